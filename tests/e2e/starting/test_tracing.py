"""Traces reach a collector, when there is one."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import RunningTidings, wait_until


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """An HTTP server on loopback that keeps what is sent to it."""
    received: list[bytes] = []

    class Keeping(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keeping)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces", received
    server.shutdown()
    server.server_close()


def test_a_request_becomes_a_span(used_dir: Path, collector: tuple[str, list[bytes]]) -> None:
    """It carries the caller's trace and no secret; the last spans are sent at the end."""
    url, received = collector
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"

    with RunningTidings(used_dir, TIDINGS_OTLP_URL=url) as tidings:
        with tidings.client(traceparent=f"00-{trace_id}-00f067aa0ba902b7-01") as client:
            answer = client.get("/api/v1/tenant")
        key = tidings.demo["api_key"]
        assert tidings.stop() == 0

    assert trace_id in answer.headers["traceparent"]
    sent = wait_until(lambda: b"".join(received), "spans to arrive")
    assert bytes.fromhex(trace_id) in sent
    assert b"tidings" in sent
    assert key.encode() not in sent
