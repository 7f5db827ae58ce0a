"""Traces reach a collector, when there is one."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

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


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
ABOVE = "00f067aa0ba902b7"
CODE = {
    "recipient": {"addresses": [{"channel": "whatsapp", "address": "+93700128888"}]},
    "template": "otp",
    "channel": "auto",
    "use_case": "otp",
    "variables": {"code": "481516"},
}


def spans_in(received: list[bytes]) -> list[Span]:
    """All that arrived, whichever process sent it."""
    found: list[Span] = []
    for body in received:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            found += [span for scope in resource.scope_spans for span in scope.spans]
    return found


def test_a_notification_is_one_trace_from_the_request_to_its_outcome(
    used_dir: Path, collector: tuple[str, list[bytes]]
) -> None:
    """It is the caller's own trace, it has no secret and no content in it, and the last spans are sent at the end."""
    url, received = collector

    with RunningTidings(used_dir, TIDINGS_OTLP_URL=url) as tidings:
        with tidings.client() as client:
            ladder = {"use_case": "otp", "ladder": [{"channel": "whatsapp", "deadline_seconds": 60}]}
            assert client.post("/api/v1/router/policies", json=ladder).status_code == 201
            parent = {"traceparent": f"00-{TRACE}-{ABOVE}-01"}
            answer = client.post("/api/v1/notifications", json=CODE, headers=parent)
            assert answer.status_code == 202, answer.text
            place = f"/api/v1/notifications/{answer.json()['id']}"

            def over() -> dict[str, Any] | None:
                story: dict[str, Any] = client.get(f"{place}/explain").json()
                return story if story["phase"] is None else None

            story = wait_until(over, "its outcome")
            (execution,) = client.get("/api/v1/router/executions").json()["items"]
            execution = client.get(f"/api/v1/router/executions/{execution['id']}").json()
            sent = httpx2.get(f"{tidings.demo['sandbox_url']}/messages", params={"to": "+93700128888"}).text
        key = tidings.demo["api_key"]
        assert tidings.stop() == 0

    spans = wait_until(lambda: spans_in(received), "spans to arrive")
    ours = [span for span in spans if span.trace_id.hex() == TRACE]
    assert story["notification"]["status"] == "delivered"
    assert TRACE in answer.headers["traceparent"]
    assert (story["notification"]["trace_id"], execution["trace_id"]) == (TRACE, TRACE)
    assert {span.name for span in ours} >= {
        "HTTP POST",
        "notifications accept",
        "notifications dispatch",
        "vendor send",
        "callbacks apply",
        "ladders advance",
        "outcomes apply",
    }
    known = {span.span_id.hex() for span in ours} | {ABOVE}
    assert all(span.parent_span_id.hex() in known for span in ours)
    everything = b"".join(received)
    assert b"tidings" in everything
    for secret in (key, "481516", "+93700128888"):
        assert secret.encode() not in everything
    assert TRACE not in sent, "a vendor is told nothing of our traces"
