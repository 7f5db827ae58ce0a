"""`tidings explain` and `tidings tail`: a story that can be read, and a stream that misses nothing."""

import json
import re

from tests.unit.cli.conftest import AT, PlayedApi, Types, notification
from tidings.cli.notification_poller import NotificationPoller
from tidings_client import Tidings

STORY = {
    "notification": notification(status="failed", reason="vendor_refused", locale="fa-AF"),
    "summary": "The vendor said no.",
    "decision": [
        {"gate": "tenant", "verdict": "pass", "reason": None, "explanation": "The tenant may send."},
        {"gate": "quiet_hours", "verdict": "defer", "reason": "quiet_hours", "until": "2026-11-16T03:30:00Z"},
        {"gate": "address", "verdict": "pass", "reason": None, "step": 1},
    ],
    "timeline": [
        {"at": AT, "kind": "accepted", "text": "Accepted: otp 1.0.0.", "reason": "x"},
        {"at": "2026-11-15T12:00:00.250Z", "kind": "attempt", "vendor": "smtp", "tries": 2, "code": None},
        {"at": "2026-11-15T12:00:01Z", "kind": "failed", "reason": "550 \u202eno \x1b[31mred"},
    ],
    "attempts": [],
}


def test_a_digest_says_what_it_stands_for(types: Types, api: PlayedApi) -> None:
    digest = {"role": "digest", "items": ["ntf_002", "ntf_003"], "more_items": False}
    api.answers["GET /ntf_001/explain"] = (200, STORY | {"digest": digest})

    said = types("explain", "ntf_001")

    assert "A digest, in place of 2 messages: ntf_002, ntf_003" in said.out.splitlines()


def test_the_story_reads_from_top_to_bottom(types: Types, api: PlayedApi) -> None:
    """Where it stands, what was decided, what happened when; no colours where no terminal is."""
    api.answers["GET /ntf_001/explain"] = (200, STORY)

    said = types("explain", "ntf_001")

    assert said.code == 0, said.err
    assert said.out.splitlines() == [
        "ntf_001  failed  email · otp 1.0.0 · fa-AF",
        "for rcp_1, accepted 2026-11-15 12:00:00.000 UTC",
        "reason: vendor_refused",
        "",
        "The vendor said no.",
        "",
        "Decision",
        "  ✓ 1 gate passed",
        "  … quiet_hours  quiet_hours, until 2026-11-16 03:30:00.000 UTC",
        "  step 1",
        "    ✓ 1 gate passed",
        "",
        "Timeline (UTC)",
        "  2026-11-15 12:00:00.000                accepted      Accepted: otp 1.0.0.",
        "  2026-11-15 12:00:00.250      +0.250 s  attempt       vendor smtp  tries 2",
        "  2026-11-15 12:00:01.000      +1.000 s  failed        reason 550 ?no ?[31mred",
    ]


def test_gates_that_were_passed_are_counted_and_shown_when_asked_for(types: Types, api: PlayedApi) -> None:
    """Three tries pass the same gates three times; what stopped, waited or is worth a word is always there."""
    gates = ("still_wanted", "channel_allowed", "address_usable")
    tries = [{"gate": gate, "verdict": "pass", "step": 1, "explanation": "Yes."} for gate in gates * 3]
    told = [
        {"gate": "tenant_active", "verdict": "pass", "explanation": "The tenant is active."},
        {"gate": "recipient_known", "verdict": "pass", "reason": "guardian_copy", "explanation": "A copy."},
        *tries,
        {
            "gate": "channel_limit",
            "verdict": "defer",
            "step": 1,
            "reason": "rate_limited",
            "explanation": "Full.",
        },
    ]
    api.answers["GET /ntf_001/explain"] = (200, {**STORY, "decision": told, "timeline": []})

    folded = types("explain", "ntf_001").out.splitlines()
    whole = types("explain", "ntf_001", "--verbose").out.splitlines()

    assert folded[folded.index("Decision") :] == [
        "Decision",
        "  ✓ 1 gate passed",
        "  ✓ recipient_known  A copy.",
        "  step 1",
        "    ✓ 3 gates passed, 3 times",
        "    … channel_limit    Full.",
        "",
    ]
    assert sum("✓" in line for line in whole) == 11
    assert "    ✓ address_usable   Yes." in whole


def test_the_head_names_the_language_of_the_text_and_times_are_the_recipients_too(
    types: Types, api: PlayedApi
) -> None:
    story = {
        **STORY,
        "template": {"locale": "en", "locale_asked": "fa-AF", "rendered": True},
        "preferences": {"now": {"locale": "fa-AF", "timezone": "Asia/Kabul"}},
    }
    api.answers["GET /ntf_001/explain"] = (200, story)

    said = types("explain", "ntf_001").out.splitlines()

    assert said[0] == "ntf_001  failed  email · otp 1.0.0 · en (the recipient's: fa-AF)"
    assert said[1] == "for rcp_1, accepted 2026-11-15 12:00:00.000 UTC (16:30:00 in Asia/Kabul)"
    assert "Timeline (UTC; in brackets the recipient's time, Asia/Kabul)" in said
    assert "  2026-11-15 12:00:00.000 (16:30:00)                accepted      Accepted: otp 1.0.0." in said


def test_a_ladder_says_what_its_vendors_can_say(types: Types, api: PlayedApi) -> None:
    route = {"step": 1, "channel": "sms", "vendor": "http", "success": "delivered", "receipts": True}
    mail = {**route, "step": 2, "channel": "email", "vendor": "smtp", "receipts": False}
    api.answers["GET /ntf_001/explain"] = (200, {**STORY, "policy": {"routes": [route, mail]}})

    said = types("explain", "ntf_001").out.splitlines()

    assert "  1 sms through http, until delivered" in said
    assert "  2 email through smtp, until accepted (no receipts from this vendor)" in said


def test_a_vendors_codes_can_be_looked_up(types: Types, api: PlayedApi) -> None:
    """Each once; words of ours say themselves what they mean."""
    refused = {"at": AT, "kind": "attempt", "vendor": "twilio", "status": "rejected_by_recipient"}
    heard = {"at": AT, "kind": "receipt", "vendor": "ses", "status": "bounced", "reason": "5.1.1"}
    happened = [
        {**refused, "reason": "21610"},
        {**refused, "reason": "21610"},
        {**refused, "reason": "no_account"},
        {**refused, "reason": "SENDER_ID_MISMATCH", "meaning": "sender_mismatch"},
        {**refused, "status": "accepted", "reason": "30003"},
        heard,
    ]
    api.answers["GET /ntf_001/explain"] = (200, {**STORY, "timeline": happened})

    assert types("explain", "ntf_001").out.splitlines()[-6:] == [
        "What these codes mean, and how to change it",
        "  tidings status-map show twilio SENDER_ID_MISMATCH",
        "  tidings status-map show ses 5.1.1",
        "",
        "These codes have no meaning yet; to give them one",
        "  tidings status-map set twilio 21610 --means … --reason …",
    ]


def test_the_story_as_json_is_what_the_server_said(types: Types, api: PlayedApi) -> None:
    """Nothing is left out."""
    api.answers["GET /ntf_001/explain"] = (200, STORY)

    assert json.loads(types("explain", "ntf_001", "--json").out) == STORY


def test_an_unknown_notification(types: Types, api: PlayedApi) -> None:
    """One line, and what to do next where the server says which thing it is."""
    said = types("explain", "ntf_404")
    missing = {"status": 404, "code": "notification_not_found", "detail": "There is no notification ntf_404."}
    api.answers["GET /ntf_404/explain"] = (404, missing)
    better = types("explain", "ntf_404")

    assert (said.code, said.err) == (1, "tidings: There is no such thing here\n")
    assert better.err == "tidings: There is no notification ntf_404; look at `tidings notification list`\n"


def test_an_unknown_tenant_is_told_by_the_option_that_names_it(types: Types, api: PlayedApi) -> None:
    wrong = {"field": "X-Tenant-Id", "remedy": "names a tenant that is not known here"}
    api.answers["GET /ntf_1/explain"] = (400, {"status": 400, "code": "bad_value", "errors": [wrong]})

    said = types("explain", "ntf_1", "--tenant", "tnt_1")

    assert said.err == (
        "tidings: --tenant names a tenant that is not known here; `tidings tenant list` shows those there are\n"
    )


def test_tail_shows_the_newest_and_ends_when_told(types: Types, api: PlayedApi) -> None:
    """The oldest of them first."""
    items = [notification(n) for n in (3, 2, 1)]
    api.answers["GET ?limit=100"] = (200, {"items": items, "next_cursor": None})

    said = types("tail", "--no-follow", "-n", "2")
    as_json = types("tail", "--no-follow", "-n", "1", "--json")

    assert [line.split()[-1] for line in said.out.splitlines()] == ["ntf_002", "ntf_003"]
    assert said.out.startswith("2026-11-15 12:00:00.000  delivered  email")
    assert json.loads(as_json.out)["id"] == "ntf_003"


def without_since(api: PlayedApi) -> None:
    """Answer as if nothing had been said about time: the clock on the wall is in every look."""
    api.read = lambda call: re.sub(r"since=[^&]*&", "", call)


def test_following_tells_what_is_new_and_what_moved(api: PlayedApi) -> None:
    """Each change once; those under way are asked after when the list no longer shows them."""
    without_since(api)
    with Tidings(api.url, "tdk_x") as tidings:
        following = NotificationPoller(tidings, {})

        def listed(*items: dict[str, object]) -> None:
            api.answers["GET ?limit=100"] = (200, {"items": list(items), "next_cursor": None})

        listed(notification(1, "queued"))
        assert [one.id for one in following.begin(10)] == ["ntf_001"]
        assert following.poll() == []

        listed(notification(2, "queued"), notification(1, "dispatched"))
        assert [(one.id, one.status) for one in following.poll()] == [
            ("ntf_001", "dispatched"),
            ("ntf_002", "queued"),
        ]
        assert following.poll() == []

        listed(notification(3))
        api.answers["GET /ntf_001"] = (200, notification(1, "delivered"))
        api.answers["GET /ntf_002"] = (200, notification(2, "queued"))
        assert [(one.id, one.status) for one in following.poll()] == [
            ("ntf_001", "delivered"),
            ("ntf_003", "delivered"),
        ]
        assert following.poll() == []


def test_following_turns_pages_until_it_meets_what_it_knows(api: PlayedApi) -> None:
    """A burst between two looks is told whole."""

    def at(minute: int) -> str:
        return f"2026-11-15T12:{minute:02}:00Z"

    without_since(api)
    with Tidings(api.url, "tdk_x") as tidings:
        following = NotificationPoller(tidings, {"channel": "email"})
        old = [notification(n, created_at=at(n)) for n in (2, 1)]
        api.answers["GET ?channel=email&limit=100"] = (200, {"items": old, "next_cursor": None})
        following.begin(0)

        first = [notification(n, created_at=at(n)) for n in (6, 5)]
        second = [notification(n, created_at=at(n)) for n in (4, 3)]
        api.answers["GET ?channel=email&limit=100"] = (200, {"items": first, "next_cursor": "c2"})
        api.answers["GET ?channel=email&cursor=c2&limit=100"] = (
            200,
            {"items": second + old, "next_cursor": "c3"},
        )

        assert [one.id for one in following.poll()] == ["ntf_003", "ntf_004", "ntf_005", "ntf_006"]
