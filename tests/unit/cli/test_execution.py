"""`tidings execution`: what it asks, what it prints."""

from typing import Any

from tests.unit.cli.conftest import PlayedApi, Types

HOME = "/api/v1/router/executions"
COSTS: dict[str, Any] = {
    "currency": "USD",
    "spent_micros": 7_500,
    "reserved_micros": 0,
    "cap_micros": None,
}
DONE: dict[str, Any] = {
    "id": "exec_1",
    "notification_id": "ntf_1",
    "recipient_id": "rcp_1",
    "status": "over",
    "use_case": "otp",
    "strategy": "SEQUENTIAL",
    "policy_id": "policy_1",
    "policy_version": 2,
    "order": "learned",
    "order_reasons": [
        {"channel": "whatsapp", "chance": 0.75, "cost_micros": 5_000, "index": 3.0, "drawn": True}
    ],
    "outcome": "DELIVERED",
    "evidence": "delivered",
    "final_channel": "sms",
    "started_at": "2026-11-15T12:00:00Z",
    "ended_at": "2026-11-15T12:00:30Z",
    "due_at": None,
    "expires_at": None,
    "costs": COSTS,
    "ladder": [
        {"step": 1, "channel": "whatsapp", "vendors": [], "state": "skipped", "barred": "no_route"},
        {"step": 2, "channel": "sms", "vendors": ["http"], "state": "reached", "barred": None},
    ],
    "path": [],
    "attempts": [
        {"step": 2, "vendor": "http", "status": "failed_temp", "reason": "30003", "meaning": "unreachable",
         "cost_micros": 0, "started_at": "2026-11-15T12:00:00Z",
         "receipts": [{"status": "failed_temp", "recorded_at": "2026-11-15T12:00:20Z", "late": False,
                       "code": "30006", "reason": "blocked"}]},
        {"step": 2, "vendor": "http", "status": "accepted", "reason": None, "cost_micros": 7_500,
         "cost_currency": "USD", "started_at": "2026-11-15T12:00:01Z",
         "receipts": [{"status": "delivered", "recorded_at": "2026-11-15T12:00:30Z", "late": True,
                       "code": "bad\x1bcode", "reason": None}]},
    ],
    "trace_id": None,
}  # fmt: skip


def test_show_tells_the_whole_way(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}/exec_1"] = (200, DONE)

    told = types("execution", "show", "exec_1")

    assert told.out.splitlines() == [
        "2026-11-15T12:00:00Z  exec_1  otp            DELIVERED by sms  0.0075 USD",
        "  ntf_1 to rcp_1, SEQUENTIAL by policy_1 v2, order learned",
        "  over 2026-11-15T12:00:30Z, delivered",
        "  1. whatsapp: skipped (no_route)",
        "  2. sms through http: reached",
        "       2026-11-15T12:00:00Z http failed_temp (30003, unreachable)",
        "         2026-11-15T12:00:20Z failed_temp (30006, blocked)",
        "       2026-11-15T12:00:01Z http accepted, 0.0075 USD",
        "         2026-11-15T12:00:30Z delivered (bad?code) (late)",
        "  order: whatsapp arrives with a chance of 0.75 (drawn) for 0.005",
    ]


def test_list_goes_on_through_empty_pages(api: PlayedApi, types: Types) -> None:
    """With a filter a page may be empty and not be the last."""
    under_way = {
        **DONE,
        "status": "under_way",
        "outcome": None,
        "final_channel": None,
        "costs": {**COSTS, "reserved_micros": 1_000_000, "cap_micros": 2_000_000},
    }
    api.answers[f"GET {HOME}?use_case=otp&limit=20"] = (200, {"items": [], "next_cursor": "on"})
    api.answers[f"GET {HOME}?use_case=otp&limit=20&cursor=on"] = (
        200,
        {"items": [under_way], "next_cursor": None},
    )

    told = types("execution", "list", "--use-case", "otp")

    assert told.out == (
        "2026-11-15T12:00:00Z  exec_1  otp            under way  0.0075 USD and 1 held of 2\n"
    )


def test_a_step_that_waits_says_until_when(api: PlayedApi, types: Types) -> None:
    waits = {
        "step": 1,
        "channel": "sms",
        "vendors": ["http"],
        "state": "waiting",
        "due_at": "2026-11-15T12:05:00Z",
    }
    api.answers[f"GET {HOME}/exec_1"] = (
        200,
        {**DONE, "status": "under_way", "ladder": [waits], "attempts": []},
    )

    told = types("execution", "show", "exec_1")

    assert "  1. sms through http: waiting for its next call at 2026-11-15T12:05:00Z" in told.out.splitlines()


def test_a_moment_without_an_offset_is_refused(types: Types) -> None:
    done = types("execution", "list", "--since", "2026-11-15")

    assert (done.code, "--since must be a time with its offset" in done.err) == (1, True)
