"""What the client does when it goes wrong: what is repeated, with which key, and what is raised."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from tests.unit.client.conftest import KEY, URL, Caller, PlayedServer
from tests.unit.client.test_calls import ACCEPTED, NOTIFICATION
from tidings_client import (
    AsyncTidings,
    ClientError,
    ConflictError,
    NotAllowedError,
    NotDoneError,
    NotFoundError,
    NotReachedError,
    ProblemError,
    RefusedError,
    Retries,
    StrangeAnswerError,
    Tidings,
    TooBusyError,
    UnauthenticatedError,
    UnavailableError,
    operations,
)
from tidings_client.retrying import seconds_of


def problem(status: int, code: str = "some_code", **headers: str) -> httpx2.Response:
    """A refusal as the server writes it."""
    told = {
        "type": f"/docs/problems#{code}",
        "title": "A title",
        "status": status,
        "code": code,
        "detail": "A sentence.",
        "request_id": "req_1",
    }
    return httpx2.Response(status, json=told, headers={"retry-after": headers["after"]} if headers else {})


OK = httpx2.Response(202, json=ACCEPTED)


@pytest.mark.parametrize(
    "first",
    [
        httpx2.ConnectError("refused"),
        httpx2.ReadError("reset"),
        httpx2.ReadTimeout("slow"),
        problem(429, "too_busy", after="0"),
        problem(503, "unavailable"),
        problem(409, "idempotency_in_progress", after="0"),
        httpx2.Response(502, text="<html>a proxy</html>"),
    ],
    ids=str,
)
def test_what_passes_is_tried_again_with_the_same_key(
    call: Caller, server: PlayedServer, first: httpx2.Response | Exception
) -> None:
    """The server can tell a repeat from a second wish."""
    server.answers(first, OK)

    assert call.send("rcp_01", "otp").id == "ntf_01"

    keys = [request.headers["idempotency-key"] for request in server.heard]
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert server.bodies[0] == server.bodies[1]


@pytest.mark.parametrize(
    ("first", "tries"),
    [
        (httpx2.ConnectError("refused"), 2),
        (httpx2.ConnectTimeout("slow"), 2),
        (httpx2.PoolTimeout("none is free"), 2),
        (problem(429, "too_busy", after="0"), 2),
        (httpx2.ReadError("reset"), 1),
        (httpx2.ReadTimeout("slow"), 1),
        (problem(503, "unavailable"), 1),
        (httpx2.Response(502, text="<html>a proxy</html>"), 1),
    ],
    ids=str,
)
def test_a_post_without_a_key_is_repeated_only_if_it_was_not_carried_out(
    call: Caller, server: PlayedServer, first: httpx2.Response | Exception, tries: int
) -> None:
    server.answers(first, httpx2.Response(200, json=NOTIFICATION))

    if tries == 1:
        with pytest.raises(ClientError):
            call.cancel("ntf_01")
    else:
        call.cancel("ntf_01")

    assert len(server.heard) == tries


@pytest.mark.parametrize("first", [httpx2.ReadError("reset"), problem(503, "unavailable")], ids=str)
def test_a_post_that_only_reads_is_repeated_as_a_get_is(
    call: Caller, server: PlayedServer, first: httpx2.Response | Exception
) -> None:
    page = httpx2.Response(200, json={"items": [], "next_cursor": None})
    simulated = {"would": "send", "timeline": []}

    server.answers(first, page)
    call.look_up(correlation_id="A-77")
    server.answers(first, page)
    call.of("suppressions").lookup(channel="email", address="a@b.test")
    server.answers(first, httpx2.Response(200, json=simulated))
    call.call(operations.call("simulate_policy", body={}))

    assert len(server.heard) == 6


def test_posts_that_only_read_are_those_of_the_document() -> None:
    assert {name for name, one in operations.table().items() if one.safe} == {
        "dry_run_batch",
        "preview_batch",
        "look_up_notifications",
        "look_up_recipients",
        "look_up_suppressions",
        "preview_version",
        "rehearse_event",
        "simulate_notification",
        "simulate_policy",
        "validate_version",
        "verify_audit",
        "verify_router_audit",
    }


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 423, 500, 501])
def test_what_stays_is_not_tried_again(call: Caller, server: PlayedServer, status: int) -> None:
    """It would be refused the same way."""
    server.answers(problem(status))

    with pytest.raises(ProblemError) as refused:
        call.send("rcp_01", "otp")

    assert len(server.heard) == 1
    assert (refused.value.status, refused.value.code, refused.value.request_id) == (
        status,
        "some_code",
        "req_1",
    )
    assert str(refused.value) == "A sentence."


def test_it_gives_up_in_the_end_with_what_was_said_last(call: Caller, server: PlayedServer) -> None:
    """First try and four more."""
    server.answers(problem(503))

    with pytest.raises(UnavailableError):
        call.get("ntf_01")

    assert len(server.heard) == 5


def test_a_server_that_wants_a_long_pause_is_told_to_the_caller(call: Caller, server: PlayedServer) -> None:
    """Nobody is left hanging for an hour; the exception says how long."""
    server.answers(problem(429, "too_busy", after="3600"))

    with pytest.raises(TooBusyError) as busy:
        call.send("rcp_01", "otp")

    assert busy.value.retry_after == 3600
    assert len(server.heard) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, RefusedError),
        (413, RefusedError),
        (401, UnauthenticatedError),
        (403, NotAllowedError),
        (423, NotAllowedError),
        (404, NotFoundError),
        (409, ConflictError),
        (412, ConflictError),
        (500, UnavailableError),
    ],
)
def test_each_refusal_has_its_class(
    call: Caller, server: PlayedServer, status: int, kind: type[ProblemError]
) -> None:
    """So that callers catch what they can mend."""
    server.answers(problem(status))

    with pytest.raises(kind):
        call.explain("ntf_01")


def test_wrong_fields_are_named(call: Caller, server: PlayedServer) -> None:
    """By their place and with their remedy."""
    told = {
        "status": 400,
        "code": "invalid",
        "detail": "…",
        "errors": [{"field": "variables.total", "remedy": "is required"}],
    }
    server.answers(httpx2.Response(400, json=told))

    with pytest.raises(RefusedError) as refused:
        call.send("rcp_01", "otp")

    assert [(e.field, e.remedy) for e in refused.value.errors] == [("variables.total", "is required")]
    assert str(refused.value) == "variables.total is required"


def test_an_answer_of_another_server_is_recognised(call: Caller, server: PlayedServer) -> None:
    """A login page is no notification."""
    for strange in (httpx2.Response(200, text="<html>"), httpx2.Response(404, text="<html>")):
        server.answers(strange)

        with pytest.raises(StrangeAnswerError, match="right address"):
            call.get("ntf_01")


def test_silence_has_a_plain_word_and_never_shows_the_key(call: Caller, server: PlayedServer) -> None:
    """Where it was looked for, and what to check."""
    server.answers(httpx2.ConnectError("[Errno 111] Connection refused"))

    with pytest.raises(NotReachedError) as silent:
        call.get("ntf_01")

    assert str(silent.value) == f"nothing answers at {URL}; is Tidings running there?"
    assert KEY not in repr(silent.value)


def test_waiting_ends_when_nothing_follows(call: Caller, server: PlayedServer) -> None:
    """It looks again until it is over."""
    server.answers(
        *(
            httpx2.Response(200, json={**NOTIFICATION, "status": status})
            for status in ("queued", "dispatched", "delivered")
        )
    )

    assert call.wait_until_done("ntf_01").status == "delivered"
    assert len(server.heard) == 3


def test_waiting_ends_when_the_time_is_up(call: Caller, server: PlayedServer) -> None:
    """With the state it was last seen in."""
    server.answers(httpx2.Response(200, json={**NOTIFICATION, "status": "scheduled"}))

    with pytest.raises(NotDoneError) as waiting:
        call.wait_until_done("ntf_01", timeout=0.05)

    assert waiting.value.notification.status == "scheduled"


@pytest.mark.parametrize(
    ("header", "seconds"), [(None, None), ("3", 3.0), ("0", 0.0), ("soon", None), ("-1", None), ("", None)]
)
def test_retry_after_in_seconds(header: str | None, seconds: float | None) -> None:
    """Nonsense says nothing."""
    assert seconds_of(header) == seconds


def test_retry_after_as_a_date() -> None:
    """Never in the past."""
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    earlier = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)

    assert (seconds_of(later) or 0) > 60
    assert seconds_of(earlier) == 0


def test_pauses_grow_and_end() -> None:
    """Twice as long each time, shortened by chance, never above the longest."""
    plan = Retries(most=10, first_pause=1.0, longest_pause=4.0)
    lost = NotReachedError("gone")

    pauses = [plan.pause(lost, tried) for tried in range(1, 12)]

    for pause, longest in zip(pauses, [1, 2, 4, 4, 4, 4, 4, 4, 4, 4], strict=False):
        assert pause is not None
        assert longest / 2 <= pause <= longest
    assert pauses[-1] is None
    assert plan.pause(ClientError("another"), 1) is None


@pytest.mark.parametrize("url", ["tidings.test", "ftp://tidings.test", ""])
def test_an_address_that_is_none(url: str) -> None:
    """Found before anything is sent."""
    with pytest.raises(ValueError, match="base_url"):
        Tidings(url, KEY)


@pytest.mark.parametrize("key", ["", " ", "tdk_\nx", "schlüssel"])
def test_a_key_that_can_be_none(key: str) -> None:
    """Found before anything is sent, and not shown."""
    with pytest.raises(ValueError, match="key must be an API key"):
        AsyncTidings(URL, key)


def test_tasks_share_an_async_client() -> None:
    """Many at once over one pool."""
    server = PlayedServer()
    server.answers(httpx2.Response(200, json=NOTIFICATION))

    async def many() -> int:
        async with AsyncTidings(URL, KEY, transport=httpx2.MockTransport(server.take)) as client:
            return len(await asyncio.gather(*(client.get("ntf_01") for _ in range(20))))

    assert asyncio.run(many()) == 20
