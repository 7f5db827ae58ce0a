"""`tidings batch`: what it asks the server, and what it prints."""

from collections import deque
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import AT, PlayedApi, Types

_HOME = "/api/v1/batches"
_NOTHING = dict.fromkeys(
    ("people", "sent", "delivered", "failed", "suppressed", "remaining", "superseded", "cancelled", "refused", "expired",
     "bounced", "opened", "clicked"), 0,
)  # fmt: skip


def _batch(status: str = "draft", *, completed: bool = False, **totals: int) -> dict[str, Any]:
    return {
        "id": "dbt_1",
        "name": "Spring\x1b[31m",
        "status": status,
        "totals": _NOTHING | totals,
        "template": "order_confirmation",
        "channel": "email",
        "category": "marketing",
        "priority": "low",
        "filter": "tag = 'vip'",
        "listed": False,
        "scheduled_for": None,
        "local_time": None,
        "pacing": None,
        "needs_approval": False,
        "approved_by": None,
        "problem": None,
        "version": 3,
        "completed_at": AT if completed else None,
    }


def test_a_batch_is_written_from_options(types: Types, api: PlayedApi) -> None:
    api.answers[f"POST {_HOME}"] = (201, _batch())

    said = types(
        "batch", "create", "--name", "Spring", "--template", "order_confirmation", "--channel", "email",
        "--filter", "tag = 'vip'", "--variables", '{"a": 1}', "--pacing", '{"per_minute": 5}',
    )  # fmt: skip

    assert said.code == 0, said.err
    sent = api.body_of(f"POST {_HOME}")
    assert sent["filter"] == "tag = 'vip'"
    assert (sent["variables"], sent["pacing"]) == ({"a": 1}, {"per_minute": 5})
    assert "for tag = 'vip', by email, as marketing, priority low" in said.out
    assert "\x1b" not in said.out


def test_a_batch_says_how_it_is_paced(types: Types, api: PlayedApi) -> None:
    pacing = {
        "per_minute": 600,
        "domains": {"slow.test": 60},
        "accounts": {"adcfg_1": {"per_hour": 10_000, "warm_up": [500, 1000]}},
        "vendors": {"smtp": {"per_day": 5}},
    }
    api.answers[f"GET {_HOME}/dbt_1"] = (200, _batch() | {"pacing": pacing})

    said = types("batch", "show", "dbt_1")

    assert said.code == 0, said.err
    assert said.out.splitlines()[-4:] == [
        "  600 people a minute at most",
        "  to slow.test: 60 a minute",
        "  through adcfg_1: 10,000 an hour; day by day 500, 1,000",
        "  through smtp: 5 a day",
    ]


@pytest.mark.parametrize("verb", ["start", "pause", "resume", "cancel", "approve", "clone"])
def test_each_move_has_its_command(types: Types, api: PlayedApi, verb: str) -> None:
    api.answers[f"POST {_HOME}/dbt_1/{verb}"] = (200, _batch("running", people=10, remaining=4, sent=7))

    said = types("batch", verb, "dbt_1")

    assert said.code == 0, said.err
    assert "6 of 10" in said.out
    assert "10 people, 7 sent, 4 remaining" in said.out


@pytest.mark.parametrize(("end", "code"), [("completed", 0), ("cancelled", 1), ("failed", 1)])
def test_watching_prints_a_line_for_each_change_and_ends_with_the_batch(
    types: Types, api: PlayedApi, monkeypatch: pytest.MonkeyPatch, end: str, code: int
) -> None:
    stages = deque(
        [
            _batch("running", people=10, remaining=10),
            _batch("running", people=10, remaining=10),
            _batch("running", people=10, remaining=3, sent=8),
            _batch(end, completed=True, people=10, delivered=10, sent=10),
        ]
    )

    def answer(call: str) -> str:
        api.answers[f"GET {_HOME}/dbt_1"] = (200, stages[0] if len(stages) == 1 else stages.popleft())
        return call

    monkeypatch.setattr(api, "read", answer)

    said = types("batch", "watch", "dbt_1", "--every", "0.05")

    assert said.code == code, said.err
    assert [line.split()[1:5] for line in said.err.splitlines() if "dbt_1" in line] == [
        ["running", "0", "of", "10"],
        ["running", "7", "of", "10"],
        [end, "10", "of", "10"],
    ]
    assert "10 delivered" in said.out


def test_a_report_is_a_table_with_what_is_uncertain(types: Types, api: PlayedApi) -> None:
    line = {
        "percent": 30,
        "template": "t",
        "people": 3,
        "sent": 3,
        "delivered": 2,
        "failed": 1,
        "suppressed": 0,
        "bounced": 0,
    }
    api.answers[f"GET {_HOME}/dbt_1/report?verify=true"] = (
        200,
        {
            "batch_id": "dbt_1",
            "status": "completed",
            "totals": _NOTHING,
            "states": {"delivered": 2, "failed": 1},
            "met": 3,
            "unmet": 0,
            "variants": [{"name": "A", **line, "opened": 1, "clicked": 0}],
            "unread_answers": [{"recipient_id": "rcp_1", "notification_id": "ntf_1", "answers": 1}],
            "proof": {"lines": {"delivered": 2, "failed": 1}, "people": 3, "agrees": True},
        },
    )

    said = types("batch", "report", "dbt_1", "--verify")

    assert said.code == 0, said.err
    assert "3 people were met, each once: 2 delivered, 1 failed" in said.out
    assert "the ledger has 3 lines, as many as were counted" in said.out
    assert "rcp_1  ntf_1" in said.out


def test_a_file_is_uploaded_as_it_is(types: Types, api: PlayedApi, tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    file.write_text('{"id": "rcp_1"}')
    done = {"id": "imp_1", "format": "json lines", "lines": 1, "added": 0, "changed": 0, "unchanged": 1, "refused": 0,
            "problems": 0, "first_problems": [], "dry_run": False}  # fmt: skip
    api.answers[f"POST {_HOME}/dbt_1/recipients"] = (200, done)

    said = types("batch", "upload", "dbt_1", str(file))

    assert said.code == 0, said.err
    [(_, headers, _)] = [
        heard for heard in api.heard if heard[0].startswith(f"POST {_HOME}/dbt_1/recipients")
    ]
    assert headers["content-type"] == "application/x-ndjson"
