"""A server on loopback that plays the API's part, and a way to type commands against it."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Printed, Types, typing_in, write_demo

__all__ = ["Printed", "Types"]

AT = "2026-11-15T12:00:00Z"


def notification(number: int = 1, status: str = "delivered", **facts: Any) -> dict[str, Any]:
    """One as the API shows it."""
    return {
        "id": f"ntf_{number:03}",
        "status": status,
        "channel": "auto",
        "final_channel": "email",
        "recipient_id": "rcp_1",
        "created_at": AT,
        "template": {"key": "otp", "version": "1.0.0"},
        **facts,
    }


@dataclass
class PlayedApi:
    """What it answers by method and path, and what it heard."""

    url: str = ""
    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)
    heard: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    #: How a call is looked up among the answers.
    read: Callable[[str], str] = str

    def body_of(self, call: str) -> Any:
        """What the last such call brought."""
        return next(body for name, _, body in reversed(self.heard) if name == call)


def _sorted(call: str) -> str:
    """A call with its query parameters in one order: which they come in means nothing."""
    path, _, query = call.partition("?")
    return f"{path}?{'&'.join(sorted(query.split('&')))}"


@pytest.fixture
def api() -> Iterator[PlayedApi]:
    """The server."""
    played = PlayedApi()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            sent = json.loads(self.rfile.read(size)) if size else None
            call = f"{self.command} {self.path.removeprefix('/api/v1/notifications')}"
            played.heard.append((call, {k.lower(): v for k, v in self.headers.items()}, sent))
            missing = {"status": 404, "code": "not_found", "detail": "There is no such thing here."}
            wanted = _sorted(played.read(call))
            answers = {_sorted(name): answer for name, answer in played.answers.items()}
            status, told = answers.get(wanted, (404, missing))
            content = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = answer  # noqa: N815
        do_POST = answer  # noqa: N815
        do_PUT = answer  # noqa: N815
        do_DELETE = answer  # noqa: N815
        do_PATCH = answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Quietly."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    played.url = f"http://127.0.0.1:{server.server_port}"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    serving.start()
    yield played
    server.shutdown()
    server.server_close()
    serving.join()


@pytest.fixture
def house(tmp_path: Path, api: PlayedApi) -> Path:
    """A data dir whose demo.json leads to the server."""
    write_demo(tmp_path, api.url, key="tdk_demo_key", platform_key="tdk_platform_key")
    return tmp_path


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], house: Path) -> Types:
    """Type a command, in that data dir."""
    return typing_in(house, monkeypatch, capsys)
