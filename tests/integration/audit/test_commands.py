"""The commands as an operator types them."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.support.postgres import TestDatabase
from tests.support.tampering import tampering
from tidings.cli import audit, break_glass, flags
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId

Command = Callable[..., Awaitable[Result]]


@pytest.fixture
def command(fresh_database: TestDatabase, tmp_path: Path) -> Command:
    """Runs `tidings …` against this test's database."""
    app = typer.Typer()
    app.add_typer(audit.app, name="audit")
    app.add_typer(flags.app, name="flags")
    app.command("break-glass")(break_glass.break_glass)
    environment = {
        "TIDINGS_DATA_DIR": str(tmp_path / "data"),
        "TIDINGS_DATABASE_URL": fresh_database.runtime_url,
        "TIDINGS_OWNER_DATABASE_URL": fresh_database.owner_url,
        "COLUMNS": "200",
    }

    async def run(*words: str) -> Result:
        return await asyncio.to_thread(CliRunner().invoke, app, list(words), env=environment)

    return run


@pytest.fixture
async def written(fresh_db: Database, tenant_id: TenantId) -> TenantId:
    log = AuditLog("notification", SystemClock())
    async with fresh_db.tenant(tenant_id) as tx:
        entries = [
            Entry(entity_type="template", entity_id=f"t{n}", action="changed", actor="key_1", after={"n": n})
            for n in range(3)
        ]
        await log.append(tx, entries)
    return tenant_id


async def test_verify_is_content_with_a_whole_log(command: Command, written: TenantId) -> None:
    """Before and after it was anchored."""
    first = await command("audit", "verify")
    anchored = await command("audit", "anchor")
    second = await command("audit", "verify", "--log", "notification")

    assert (first.exit_code, anchored.exit_code, second.exit_code) == (0, 0, 0), (
        first.output + anchored.output
    )
    assert "as it was written" in first.output
    assert "3 rows in 1 streams of 1 tenants" in first.output
    assert "notification: anc_" in anchored.output
    assert "chan: there is nothing to sign" in anchored.output


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE notification.audit SET actor = 'x' WHERE seq = 2 RETURNING id", "altered"),
        ("DELETE FROM notification.audit WHERE seq = 2 RETURNING id", "missing"),
    ],
)
async def test_verify_names_what_is_wrong(
    command: Command, written: TenantId, fresh_database: TestDatabase, statement: str, fault: str
) -> None:
    """On a line for people, as JSON for machines, and by the exit code for both."""
    async with tampering(fresh_database) as owner:
        row_id = await owner.fetchval(statement)

    shown = await command("audit", "verify")
    told = await command("audit", "verify", "--json")
    refused = await command("audit", "anchor")

    assert (shown.exit_code, told.exit_code, refused.exit_code) == (1, 1, 1)
    assert fault.upper() in shown.output
    finding = json.loads(told.stdout)
    assert (finding["fault"], finding["tenant_id"], finding["seq"]) == (fault, written, 2)
    assert fault == "missing" or row_id in shown.output


async def test_tail_shows_the_newest(command: Command, written: TenantId) -> None:
    """Of one tenant, the oldest of them first."""
    shown = await command("audit", "tail", "--tenant", written, "-n", "2")
    told = await command("audit", "tail", "--tenant", written, "--json")

    assert shown.exit_code == 0, shown.output
    assert len(shown.output.splitlines()) == 2
    assert "key_1 changed template" in shown.output
    assert len([json.loads(line) for line in told.stdout.splitlines()]) == 3


async def test_break_glass_prints_rows(command: Command, written: TenantId) -> None:
    """As a table, and as JSON."""
    words = (
        "break-glass",
        "--reason",
        "looking for a lost row",
        "--sql",
        "SELECT entity_id FROM notification.audit",
    )

    shown = await command(*words)
    told = await command(*words, "--json", "--limit", "1")

    assert (shown.exit_code, told.exit_code) == (0, 0), shown.output
    assert "t2" in shown.output
    assert "audited as bgl_" in shown.stderr
    assert len(told.stdout.splitlines()) == 1


async def test_flags_are_listed(command: Command) -> None:
    """Whatever is declared; a value that makes no sense is refused."""
    listed = await command("flags", "list", "--json")
    refused = await command("flags", "set", "no.such_flag", "maybe", "--reason", "just so")

    assert listed.exit_code == 0, listed.output
    assert set(json.loads(listed.stdout)) == {"flags", "switches"}
    assert refused.exit_code != 0


@pytest.mark.parametrize(
    "words", [("audit", "verify", "--log", "nothing"), ("audit", "tail", "--tenant", "nobody")]
)
async def test_bad_words_are_refused(command: Command, words: tuple[str, ...]) -> None:
    """With a sentence, not a traceback of ours."""
    refused = await command(*words)

    assert refused.exit_code != 0
    assert refused.exception is not None
    assert str(refused.exception)
