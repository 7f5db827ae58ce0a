"""Rows that were written before are read, and read by the names that they were written with."""

import json
from typing import Any

from tidings.router.executions.snapshot import StoredState, path_of, state_of, state_text
from tidings.router.state_machine.model import ExecutionState

_ATTEMPT = {
    "id": "attempt_1",
    "step": 1,
    "channel": "sms",
    "status": "failed_temp",
    "started_at": "2026-01-01T00:00:00.000Z",
    "ended_at": "2026-01-01T00:00:01.000Z",
    "vendor": "twilio",
}
_STORED: dict[str, Any] = {
    "legs": [
        {
            "step": 1,
            "tries": 2,
            "calling": {"id": "attempt_2", "vendor": "vonage", "started_at": "2026-01-01T00:00:02.000Z"},
            "tried": ["twilio", "vonage"],
        }
    ],
    "next": 2,
    "past": [_ATTEMPT],
}


def test_the_stored_names_of_a_state_do_not_change() -> None:
    stored = state_of(json.dumps(_STORED))
    (active,) = stored.active_steps
    assert active.open_attempt is not None
    assert (active.open_attempt.id, stored.attempts[0].vendor) == ("attempt_2", "twilio")
    assert set(json.loads(_written(stored))) == set(_STORED)
    assert set(json.loads(_written(stored))["legs"][0]) == set(_STORED["legs"][0])
    assert path_of(json.dumps([_ATTEMPT])) == stored.attempts


def _written(stored: StoredState) -> str:
    state = ExecutionState(
        steps=(),
        use_case="txn",
        expires_at=stored.attempts[0].ended_at,
        active_steps=stored.active_steps,
        next=stored.next,
        attempts=stored.attempts,
    )
    return state_text(state)
