"""Every answer carries a request id and a place in a trace."""

import re
from typing import Any

import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from structlog.contextvars import get_contextvars

from tidings.kernel.clock import SystemClock
from tidings.kernel.http.asgi import Message, Receive, Scope, Send, respond
from tidings.kernel.http.request_ids import Answered, RequestIds, request_id_of
from tidings.kernel.tracing import current_traceparent

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


async def call(
    headers: dict[str, str], answered: list[Answered] | None = None, tracer: trace.Tracer | None = None
) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen["bound"] = get_contextvars()
        seen["id"] = request_id_of(scope)
        seen["traceparent"] = current_traceparent()
        scope["path_template"] = "/things/{id}"
        await respond(send, 200, b"{}")

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            seen["headers"] = {k.decode(): v.decode() for k, v in message["headers"]}

    raw = [(k.encode(), v.encode("latin-1")) for k, v in headers.items()]
    layer = RequestIds(
        app, clock=SystemClock(), tracer=tracer, on_answer=answered.append if answered is not None else None
    )
    await layer({"type": "http", "method": "BREW", "path": "/things/1", "headers": raw}, receive, send)
    return seen


async def test_a_sane_request_id_is_kept() -> None:
    seen = await call({"x-request-id": "order-7.retry:2"})

    assert seen["headers"]["x-request-id"] == seen["id"] == seen["bound"]["request_id"] == "order-7.retry:2"


@pytest.mark.parametrize("given", ["", " ", "a b", "x" * 129, "<script>", "\xe4", "a\tb", '"'])
async def test_a_strange_request_id_is_replaced(given: str) -> None:
    seen = await call({"x-request-id": given})

    assert re.fullmatch(r"req_[0-9A-Z]{26}", seen["headers"]["x-request-id"])


async def test_a_trace_is_continued_with_our_own_span() -> None:
    seen = await call({"traceparent": f"00-{TRACE}-{SPAN}-01"})

    version, trace_id, span_id, flags = seen["headers"]["traceparent"].split("-")
    assert (version, trace_id, flags) == ("00", TRACE, "01")
    assert span_id != SPAN
    assert seen["traceparent"] == seen["headers"]["traceparent"]
    assert seen["bound"]["trace_id"] == TRACE


@pytest.mark.parametrize(
    "given", ["", "garbage", f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01", f"ff-{TRACE}-{SPAN}-01", f"00-{TRACE.upper()}-{SPAN}-01"]
)  # fmt: skip
async def test_a_broken_trace_is_replaced(given: str) -> None:
    seen = await call({"traceparent": given})

    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-00", seen["headers"]["traceparent"])
    assert TRACE not in seen["headers"]["traceparent"]


async def test_nothing_stays_bound_afterwards() -> None:
    structlog.contextvars.clear_contextvars()

    await call({})

    assert get_contextvars() == {}
    assert current_traceparent() is None


async def test_what_is_measured_has_closed_labels() -> None:
    answered: list[Answered] = []

    await call({}, answered)

    assert [(a.method, a.route, a.status) for a in answered] == [("OTHER", "/things/{id}", 200)]


@pytest.mark.parametrize("given", ["", f"00-{TRACE}-{SPAN}-01"])
async def test_without_a_collector_the_ids_are_as_good(given: str) -> None:
    seen = await call({"traceparent": given}, tracer=trace.NoOpTracer())

    _, trace_id, span_id, _ = seen["headers"]["traceparent"].split("-")
    assert trace_id not in ("0" * 32,)
    assert (trace_id == TRACE) is bool(given)
    assert span_id not in ("0" * 16, SPAN)


async def test_with_a_collector_the_answer_names_the_span_that_was_sent() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    seen = await call({"traceparent": f"00-{TRACE}-{SPAN}-01"}, tracer=provider.get_tracer("http"))

    (span,) = exporter.get_finished_spans()
    place = span.get_span_context()
    assert place is not None
    assert seen["headers"]["traceparent"] == f"00-{TRACE}-{place.span_id:016x}-01"
    assert span.parent is not None
    assert f"{span.parent.span_id:016x}" == SPAN
    assert dict(span.attributes or {}) == {"http.route": "/things/{id}", "http.response.status_code": 200}
