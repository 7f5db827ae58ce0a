"""The look at what a run emits: it finds events that are not as their schemas say, and events that are never emitted."""

import json

from tests.support.emitted_events import ARRIVES_WITH, EmittedEvents, what_is_missing
from tidings.contracts.events import EVENTS, TOLD_BY_OTHERS


def test_an_event_that_is_not_as_its_schema_says_is_named() -> None:
    seen = EmittedEvents()
    good = {"recipient_id": "rcp_1", "erasure_id": "era_1", "erased_at": "2026-11-16T10:00:00Z"}

    seen.look_at(
        [
            {"subject": "recipient.erased.v1", "id": "evt_1", "payload": json.dumps(good)},
            {
                "subject": "recipient.erased.v1",
                "id": "evt_2",
                "payload": json.dumps({**good, "erased_at": "x"}),
            },
            {"subject": "recipient.erased.v1", "id": "evt_3", "payload": "{}"},
        ]
    )

    assert {line.split()[1] for line in seen.wrong} == {"evt_2:", "evt_3:"}
    assert seen.subjects == {"recipient.erased.v1"}


def test_an_event_that_is_never_emitted_is_named() -> None:
    all_ = EVENTS.keys() - TOLD_BY_OTHERS - ARRIVES_WITH.keys()

    assert what_is_missing(set(all_)) == []
    assert what_is_missing(all_ - {"recipient.erased.v1"}) == [
        "recipient.erased.v1 is declared, and no test has made Tidings emit it"
    ]
    assert len(what_is_missing({*all_, *ARRIVES_WITH})) == len(ARRIVES_WITH)


def test_what_is_awaited_is_declared() -> None:
    assert ARRIVES_WITH.keys() <= EVENTS.keys()
