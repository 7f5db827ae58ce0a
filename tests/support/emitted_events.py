"""Every event that a test run emits is validated against its schema, and noted: in a whole run each declared one was emitted.

They are read from the databases of the tests, before these are emptied or dropped, outboxes and stream alike, so that it
does not matter which code wrote them. Each worker leaves a file with what it has seen; the controlling process puts
them together and fails the run. Events of other sources are those that a test has made up.
"""

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import asyncpg
import jsonschema_rs

from tests.support.postgres import TestDatabase
from tidings.contracts.event_schemas import event_schemas
from tidings.contracts.events import EVENTS, TOLD_BY_OTHERS

_TABLES: Final = ("notification.outbox", "chan.outbox", "bff_backoffice.outbox", "kernel.bus_events")
_OURS: Final = '%"source":"/tidings/%'
_FOLDER: Final = "emitted-events"


class EmittedEvents:
    """What one worker has seen."""

    def __init__(self) -> None:
        self.subjects: set[str] = set()
        #: A sentence for each event that is not as its schema says.
        self.wrong: list[str] = []

    async def read(self, database: TestDatabase) -> None:
        """Look at all events that are in a database."""
        async with database.owner() as owner:
            # Of a schema that a test has half-made, or taken apart, nothing is asked.
            with suppress(asyncpg.SyntaxOrAccessError):
                await self.read_as(owner)

    async def read_as(self, owner: asyncpg.Connection) -> None:
        """The same, over a connection of the owner."""
        await owner.execute("SET ROLE tidings_breakglass")
        try:
            for table in _TABLES:
                rows = await owner.fetch(
                    f"SELECT DISTINCT id, subject, payload FROM {table} "
                    "WHERE subject = ANY($1::text[]) AND envelope LIKE $2",
                    sorted(EVENTS),
                    _OURS,
                )
                self.look_at(rows)
        finally:
            await owner.execute("RESET ROLE")

    def look_at(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Validate these events, and note them."""
        for row in rows:
            subject = row["subject"]
            self.subjects.add(subject)
            for error in _validator(subject).iter_errors(json.loads(row["payload"])):
                self.wrong.append(
                    f"{subject} {row['id']}: {'.'.join(map(str, error.instance_path))} {error.message}"
                )

    def write(self) -> None:
        """Leave for the controlling process what was seen."""
        folder = Path(tempfile.gettempdir()) / _FOLDER
        folder.mkdir(exist_ok=True)
        told = {"subjects": sorted(self.subjects), "wrong": self.wrong}
        (folder / f"{os.getpid()}.json").write_text(json.dumps(told), encoding="utf-8")


@cache
def _validator(subject: str) -> Any:
    return jsonschema_rs.validator_for(event_schemas()[subject], validate_formats=True)


def faults_of_run(folder: Path, *, whole: bool) -> list[str]:
    """What is wrong with the events that all workers of a run have seen; of a whole run, also what none has seen."""
    told = [json.loads(file.read_text(encoding="utf-8")) for file in (folder / _FOLDER).glob("*.json")]
    wrong = sorted({line for one in told for line in one["wrong"]})
    return wrong + (
        what_is_missing({subject for one in told for subject in one["subjects"]}) if whole else []
    )


def what_is_missing(emitted: set[str]) -> list[str]:
    """A sentence for each declared event that a whole run has not emitted."""
    silent = EVENTS.keys() - TOLD_BY_OTHERS - emitted
    return [f"{subject} is declared, and no test has made Tidings emit it" for subject in sorted(silent)]
