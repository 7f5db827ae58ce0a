"""Gives every request an id and a place in a trace, and puts both into the answer and the logs.

A caller's own `X-Request-Id` is kept when it is sane, so that a call can be followed through several
systems. `traceparent` is continued when it is valid; the answer names our own span of that trace.
"""

import os
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import NewType

from opentelemetry import context, trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags
from structlog.contextvars import bound_contextvars

from tidings.kernel.clock import Clock
from tidings.kernel.http.asgi import App, Message, Receive, Scope, Send, header
from tidings.kernel.ids import IdKind
from tidings.kernel.origin import Origin, coming_from
from tidings.kernel.tracing import traceparent_of

RequestId = NewType("RequestId", str)
REQUEST = IdKind("req", RequestId)

_SANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_NO_TRACE = "0" * 32
_NO_SPAN = "0" * 16
_TRACE_ID = slice(3, 35)
_SPAN_BITS = (1 << 64) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What is measured of every answer."""

    method: str
    #: The route's template, never the path: a path holds ids. `unmatched` where nothing lives.
    route: str
    status: int
    seconds: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RequestIds:
    """The outermost layer: ids in, ids out, and a note of how it went."""

    app: App
    _: KW_ONLY
    clock: Clock
    tracer: trace.Tracer | None = None
    on_answer: Callable[[Answered], None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = self._request_id(scope)
        span = self._span(scope)
        place = span.get_span_context()
        traceparent = traceparent_of(place)
        trace_id = traceparent[_TRACE_ID]
        added = [
            (b"x-request-id", request_id.encode()),
            (b"traceparent", traceparent.encode()),
            (b"x-content-type-options", b"nosniff"),
        ]
        scope["tidings.request_id"] = request_id
        status = 499

        async def send_with_ids(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        started = self.clock.monotonic()
        token = context.attach(trace.set_span_in_context(span))
        client = scope.get("client")
        origin = Origin(client[0] if client else None, header(scope, b"user-agent"), trace_id)
        try:
            with bound_contextvars(request_id=request_id, trace_id=trace_id), coming_from(origin):
                await self.app(scope, receive, send_with_ids)
        finally:
            context.detach(token)
            route = scope.get("path_template") or "unmatched"
            if span.is_recording():
                span.set_attribute("http.route", route)
                span.set_attribute("http.response.status_code", status)
                span.end()
            if self.on_answer is not None:
                seconds = self.clock.monotonic() - started
                self.on_answer(Answered(method=_method(scope), route=route, status=status, seconds=seconds))

    def _request_id(self, scope: Scope) -> str:
        given = header(scope, b"x-request-id")
        if given is not None and _SANE.fullmatch(given):
            return given
        return REQUEST.new(self.clock.now())

    def _span(self, scope: Scope) -> trace.Span:
        trace_id, parent, flags = _parse(header(scope, b"traceparent"))
        if self.tracer is not None:
            above = NonRecordingSpan(_place(trace_id, parent, flags)) if parent else None
            parents = trace.set_span_in_context(above) if above else context.Context()
            span = self.tracer.start_span(
                f"HTTP {_method(scope)}", context=parents, kind=trace.SpanKind.SERVER
            )
            # Without a collector the tracer gives back no span, or the caller's own.
            ours = span.get_span_context()
            if ours.is_valid and trace.format_span_id(ours.span_id) != parent:
                return span
        if trace_id:
            return NonRecordingSpan(_place(trace_id, os.urandom(8).hex(), flags))
        made = int.from_bytes(os.urandom(24))
        return NonRecordingSpan(SpanContext(made >> 64, made & _SPAN_BITS, is_remote=True))


def request_id_of(scope: Scope) -> str:
    """The id that this request was given; empty outside of `RequestIds`."""
    return str(scope.get("tidings.request_id", ""))


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _method(scope: Scope) -> str:
    # A label must come from a closed set: a client can send any word as a method.
    return scope["method"] if scope["method"] in _METHODS else "OTHER"


def _parse(traceparent: str | None) -> tuple[str, str, int]:
    match = _TRACEPARENT.fullmatch(traceparent) if traceparent else None
    if match is None or match[1] == _NO_TRACE or match[2] == _NO_SPAN:
        return "", "", 0
    return match[1], match[2], int(match[3], 16)


def _place(trace_id: str, span_id: str, flags: int) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(flags & 1))
