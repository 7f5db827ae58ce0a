"""The look at what a run emits: it finds events that are not as their schemas say, and events that are never emitted."""

import json
import tempfile
from pathlib import Path

import pytest

from tests.support.emitted_events import EmittedEvents, faults_of_run, what_is_missing
from tidings.contracts.events import EVENTS, TOLD_BY_OTHERS

_GOOD = {"recipient_id": "rcp_1", "erasure_id": "era_1", "erased_at": "2026-11-16T10:00:00Z"}
_ALL = EVENTS.keys() - TOLD_BY_OTHERS


def test_an_event_that_is_not_as_its_schema_says_is_named() -> None:
    seen = EmittedEvents()

    seen.look_at(
        [
            {"subject": "recipient.erased.v1", "id": "evt_1", "payload": json.dumps(_GOOD)},
            {
                "subject": "recipient.erased.v1",
                "id": "evt_2",
                "payload": json.dumps({**_GOOD, "erased_at": "x"}),
            },
            {"subject": "recipient.erased.v1", "id": "evt_3", "payload": "{}"},
        ]
    )

    assert {line.split()[1] for line in seen.wrong} == {"evt_2:", "evt_3:"}
    assert seen.subjects == {"recipient.erased.v1"}


def test_an_event_that_is_never_emitted_is_named() -> None:
    assert what_is_missing(set(_ALL)) == []
    assert what_is_missing(_ALL - {"recipient.erased.v1"}) == [
        "recipient.erased.v1 is declared, and no test has made Tidings emit it"
    ]


def test_what_the_workers_have_seen_counts_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = EmittedEvents()
    seen.look_at([{"subject": "recipient.erased.v1", "id": "evt_1", "payload": "{}"}])
    seen.write()
    others = {"subjects": sorted(_ALL - {"recipient.erased.v1"}), "wrong": []}
    (tmp_path / "emitted-events" / "another.json").write_text(json.dumps(others), encoding="utf-8")

    whole, part = (faults_of_run(tmp_path, whole=whole) for whole in (True, False))

    assert whole == part == sorted(seen.wrong) != []

    (tmp_path / "emitted-events" / "another.json").unlink()
    assert len(faults_of_run(tmp_path, whole=True)) == len(seen.wrong) + len(_ALL) - 1
    assert faults_of_run(tmp_path, whole=False) == sorted(seen.wrong)
