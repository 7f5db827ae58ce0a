"""`tidings listen`: which events are forwarded, how they are signed, and what happens when one of both sides is away."""

import json
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.support.free_port import free_port
from tests.unit.cli.conftest import PlayedApi, Types
from tidings.cli import listen_feed, listen_forwarding
from tidings.operations.embedded import DataDir

TENANT = "GET /api/v1/tenant"
BEGINNING = "GET /api/v1/events?after=beginning&limit=50&types={types}&wait=0"


@dataclass
class LocalServer:
    """A developer's own server."""

    url: str = ""
    #: Of the calls that come; 204 when none are left.
    statuses: list[int] = field(default_factory=list)
    heard: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    #: Connections are kept alive, and ended without a word after the first answer.
    ends_connections: bool = False


@pytest.fixture
def local() -> Iterator[LocalServer]:
    found = LocalServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            found.heard.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(found.statuses.pop(0) if found.statuses else 204)
            self.send_header("content-length", "0")
            self.end_headers()
            self.close_connection = self.close_connection or found.ends_connections

        def log_message(self, *_: Any) -> None:
            """Quietly."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_port}/hooks"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    serving.start()
    yield found
    server.shutdown()
    server.server_close()
    serving.join()


def event(number: int, type_: str = "notification.delivered.v1", **data: Any) -> str:
    """An event as the API shows it; its data has a form of its own."""
    said = json.dumps({"notification_id": f"ntf_{number}", **data}, indent=1)
    return (
        f'{{"specversion":"1.0","id":"evt_01M7FHHCF0AHCRX0GVMG9Q799{number}","source":"/tidings/notify",'
        f'"type":"{type_}","time":"2026-11-15T12:00:0{number}Z","partitionkey":"ntf_{number}",'
        f'"schemaversion":"1.0","datacontenttype":"application/json","tenantid":"tnt_1","data":{said}}}'
    )


def plays(api: PlayedApi, *events: str, types: str = "%3E", environment: str = "live") -> None:
    """A page of events, and nothing behind it."""
    api.answers[TENANT] = (200, {"caller": {"environment": environment}})
    page = f'{{"events":[{",".join(events)}],"next_cursor":"c1"}}'
    first = BEGINNING.format(types=types)
    api.answers[first] = (200, page.encode())
    api.answers[first.replace("after=beginning", "after=c1")] = (200, {"events": [], "next_cursor": "c1"})


def test_events_come_as_signed_webhooks(
    types: Types, api: PlayedApi, local: LocalServer, house: Path
) -> None:
    """With the body of a real webhook, the data byte by byte; the secret stays, in a file of its owner's."""
    plays(api, event(1), event(2))
    first = types("listen", "--forward-to", local.url, "--no-follow", "--header", "X-Source=tidings")
    again = types("listen", "--forward-to", local.url, "--no-follow")

    file = house / "listen.json"
    secret = json.loads(file.read_text())["secret"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert secret.startswith("whsec_")
    assert f"verify with the secret {secret}" in first.err
    assert secret in again.err
    assert (first.code, len(local.heard)) == (0, 4)
    headers, body = local.heard[0]
    Webhook(secret).verify(body, headers)
    assert headers["webhook-id"] == "evt_01M7FHHCF0AHCRX0GVMG9Q7991"
    assert headers["x-source"] == "tidings"
    data = json.dumps({"notification_id": "ntf_1"}, indent=1)
    assert body.decode() == (
        f'{{"type":"notification.delivered.v1","timestamp":"2026-11-15T12:00:01Z","data":{data}}}'
    )
    lines = first.out.splitlines()
    assert len(lines) == 2
    assert "notification.delivered.v1" in lines[0]
    assert "→ 204" in lines[0]
    assert "2 events: 2 taken, 0 not" in first.err


def test_types_and_conditions_are_those_of_webhooks(types: Types, api: PlayedApi, local: LocalServer) -> None:
    """Live keys hear no tests, and test keys nothing else."""
    told = [
        event(1, category="billing"),
        event(2, category="social"),
        event(3, "notification.webhook.delivery_failed.v1", category="billing"),
        event(4, category="billing", is_test=True),
    ]
    words = (
        "listen",
        "--no-follow",
        "--json",
        "--event",
        "notification.>",
        "--condition",
        "data.category = 'billing'",
    )
    plays(api, *told, types="notification.%3E")
    live = types(*words)
    plays(api, *told, types="notification.%3E", environment="test")
    test = types(*words)

    assert [json.loads(line)["body"]["data"]["notification_id"] for line in live.out.splitlines()] == [
        "ntf_1"
    ]
    assert [json.loads(line)["body"]["data"]["notification_id"] for line in test.out.splitlines()] == [
        "ntf_4"
    ]


def test_the_filter_and_the_body_of_a_webhook(types: Types, api: PlayedApi, local: LocalServer) -> None:
    plays(api, event(1, category="billing"), event(2), types="notification.delivered.v1")
    api.answers["GET /api/v1/webhooks/whs_01M7FHHCF0AHCRX0GVMG9Q799D"] = (
        200,
        {
            "id": "whs_01M7FHHCF0AHCRX0GVMG9Q799D",
            "events": ["notification.delivered.v1"],
            "condition": "data.category = 'billing'",
            "is_test": False,
            "ordered": False,
            "api_version": "2026-11-15",
            "transform": {"text": "$.data.notification_id"},
        },
    )
    done = types(
        "listen", "--forward-to", local.url, "--no-follow", "--webhook", "whs_01M7FHHCF0AHCRX0GVMG9Q799D"
    )

    assert done.code == 0, done.err
    assert [json.loads(body) for _, body in local.heard] == [{"text": "ntf_1"}]


def test_what_fails_is_said_and_can_be_sent_again(types: Types, api: PlayedApi, local: LocalServer) -> None:
    plays(api, event(1), event(2))
    local.statuses = [500]
    failed = types("listen", "--forward-to", local.url, "--no-follow")
    wanted = "evt_01M7FHHCF0AHCRX0GVMG9Q7991"
    again = types("listen", "--forward-to", local.url, "--resend", wanted)
    local.statuses = [500]
    still = types("listen", "--forward-to", local.url, "--resend", wanted)
    unknown = types("listen", "--forward-to", local.url, "--resend", "evt_01M7FHHCF0AHCRX0GVMG9Q7999")

    assert "→ 500  " in failed.out.splitlines()[0]
    assert f"--resend {wanted}" in failed.out.splitlines()[0]
    assert "1 taken, 1 not" in failed.err
    assert [headers["webhook-id"] for headers, _ in local.heard][2:] == [wanted, wanted]
    assert (again.code, still.code, unknown.code) == (0, 1, 1)
    assert "there is no event evt_01M7FHHCF0AHCRX0GVMG9Q7999" in unknown.err


def test_where_nobody_listens_an_event_waits_and_then_the_next_one_comes(
    types: Types, api: PlayedApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listen_forwarding, "PAUSES", (0.0, 0.0))
    plays(api, event(1), event(2))
    port = free_port()
    done = types("listen", "--forward-to", f"http://127.0.0.1:{port}/hooks", "--no-follow", "--json")

    said = [line for line in done.err.splitlines() if "start your server" in line]
    assert len(said) == 4
    assert f"nothing listens on 127.0.0.1:{port}" in said[0]
    records = [json.loads(line) for line in done.out.splitlines()]
    assert [(one["status"], one["reason"]) for one in records] == [
        (None, f"nothing listens on 127.0.0.1:{port}")
    ] * 2
    assert "2 events: 0 taken, 2 not" in done.err


def test_it_comes_back_when_the_server_does(
    types: Types, api: PlayedApi, local: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on behind the last event; Ctrl-C ends it with how many there were, and the place."""
    monkeypatch.setattr(listen_feed, "_FIRST_PAUSE", 0.01)
    plays(api, event(1))
    follow = BEGINNING.replace("wait=0", "wait=20").format(types="%3E")
    page = api.answers[BEGINNING.format(types="%3E")]
    later = (200, f'{{"events":[{event(2)}],"next_cursor":"c2"}}'.encode())
    away = (503, {"status": 503, "code": "unavailable", "detail": "Away."})

    answers: dict[str, list[Any]] = {
        follow: [page],
        follow.replace("beginning", "c1"): [away, away, away, away, later],
    }

    def read(call: str) -> str:
        if told := answers.get(call_sorted(call)):
            api.answers[call] = told.pop(0)
        return call

    api.read = read
    monkeypatch.setattr(listen_feed.ListenFeed, "_read", interrupted_at("c2", listen_feed.ListenFeed._read))
    done = types("listen", "--forward-to", local.url, "--from-beginning")

    assert done.code == 0, done.err
    assert [json.loads(body)["data"]["notification_id"] for _, body in local.heard] == ["ntf_1", "ntf_2"]
    assert done.err.count("Trying again") == 1
    assert done.err.count("connected again") == 1
    assert "2 events: 2 taken, 0 not" in done.err
    assert "`tidings listen --after c2` goes on from here" in done.err


def test_now_is_a_place_and_no_moment_that_moves(
    types: Types, api: PlayedApi, local: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What happens while the server is away is heard afterwards; what was never behind a cursor is not promised."""
    monkeypatch.setattr(listen_feed, "_FIRST_PAUSE", 0.01)
    api.answers[TENANT] = (200, {"caller": {"environment": "live"}})
    now = call_sorted(BEGINNING.replace("beginning", "now").format(types="%3E"))
    behind = now.replace("after=now", "after=c1").replace("wait=0", "wait=20")
    away = (503, {"status": 503, "code": "unavailable", "detail": "Away."})
    page = (200, f'{{"events":[{event(1)}],"next_cursor":"c2"}}'.encode())
    answers: dict[str, list[Any]] = {
        now: [away, (200, {"events": [], "next_cursor": "c1"})],
        behind: [away, page],
    }

    def read(call: str) -> str:
        if told := answers.get(call_sorted(call)):
            api.answers[call] = told.pop(0)
        return call

    api.read = read
    monkeypatch.setattr(listen_feed.ListenFeed, "_read", interrupted_at("c2", listen_feed.ListenFeed._read))
    done = types("listen", "--forward-to", local.url)

    assert len(local.heard) == 1
    first, second = [line for line in done.err.splitlines() if "connected again" in line]
    assert "nothing was missed" not in first
    assert "nothing was missed" in second


def test_the_place_is_behind_the_last_event_that_was_forwarded(
    types: Types, api: PlayedApi, local: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes with the third event of a page in hand: that one comes again, and those before do not."""
    plays(api, event(1), event(2), event(3))
    follow = call_sorted(BEGINNING.replace("wait=0", "wait=20").format(types="%3E"))
    api.answers[follow] = api.answers[BEGINNING.format(types="%3E")]
    shorter = call_sorted(BEGINNING.replace("limit=50", "limit=2").format(types="%3E"))
    api.answers[shorter] = (200, f'{{"events":[{event(1)},{event(2)}],"next_cursor":"c0"}}'.encode())
    forward = listen_forwarding.LocalForwarder.forward

    def interrupted(self: Any, one: Any) -> Any:
        if one.id.endswith("3"):
            raise KeyboardInterrupt
        return forward(self, one)

    monkeypatch.setattr(listen_forwarding.LocalForwarder, "forward", interrupted)
    done = types("listen", "--forward-to", local.url, "--from-beginning")

    assert len(local.heard) == 2
    assert "`tidings listen --after c0` goes on from here" in done.err


def call_sorted(call: str) -> str:
    """As the keys of the answers are written."""
    path, _, query = call.partition("?")
    return f"{path}?{'&'.join(sorted(query.split('&')))}"


def interrupted_at(cursor: str, read: Any) -> Any:
    """Ctrl-C while it waits behind this cursor."""

    def reading(feed: listen_feed.ListenFeed) -> Any:
        if feed.after == cursor:
            raise KeyboardInterrupt
        return read(feed)

    return reading


def test_a_new_data_dir_can_be_listened_in_first(tmp_path: Path) -> None:
    """`tidings up` takes it as its own afterwards."""
    made = listen_forwarding.kept_secret(tmp_path / "new")
    folder = DataDir(tmp_path / "new")
    folder.open()
    folder.close()

    assert listen_forwarding.kept_secret(tmp_path / "new") == made


def test_since_leaves_out_what_was_before(types: Types, api: PlayedApi) -> None:
    plays(api, event(1), event(2), event(3))
    done = types("listen", "--no-follow", "--json", "--since", "2026-11-15T12:00:02Z")

    assert [json.loads(line)["id"][-1] for line in done.out.splitlines()] == ["2", "3"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--forward-to", "localhost:3000"), "--forward-to must be an absolute http or https URL"),
        (("--event", "nonsense.v1"), "--event nonsense.v1 fits no event"),
        (("--event", "notification.webhook.>"), "told by no webhook"),
        (("--condition", "nonsense ="), "--condition"),
        (("--header", "X-Source"), "--header must be NAME=VALUE"),
        (
            ("--header", "webhook-id=1", "--forward-to", "http://localhost"),
            "--header webhook-id is set by each call",
        ),
        (("--since", "yesterday"), "--since must be a time"),
        (("--since", "2026-11-15T12:00:00Z", "--from-beginning"), "choose one of"),
        (("--webhook", "whs_1", "--event", "notification.>"), "has its own types"),
    ],
)
def test_what_is_typed_wrong_is_said(types: Types, api: PlayedApi, words: tuple[str, ...], said: str) -> None:
    plays(api)
    done = types("listen", "--no-follow", *words)
    assert (done.code, done.out) == (1, "")
    assert said in done.err


def test_a_server_that_was_started_again_is_reached(
    types: Types, api: PlayedApi, local: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each event has a connection of its own: the one before may have ended with the server."""
    plays(api, event(1), event(2), event(3))
    local.ends_connections = True
    done = types("listen", "--forward-to", local.url, "--no-follow")

    assert "3 events: 3 taken, 0 not" in done.err
