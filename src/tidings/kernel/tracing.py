"""Traces through OpenTelemetry: from a request to everything that follows from it.

Work is done in sets, so spans are of sets: `span_of_set` opens one for all the items that a stage deals with,
as part of their trace where they have one in common, otherwise as a trace of its own that is linked to each of theirs.
What travels with an item is its `traceparent`. Without a collector none of it opens a span.
Attributes are ids and counts, never content. `configure` is called once, by a process that has a collector to send to,
and needs the extra `tidings-platform[tracing]`.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from opentelemetry import context, trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tidings.kernel.errors import NotConfiguredError

_PROPAGATOR = TraceContextTextMapPropagator()
#: So many traces are linked to one span; a set has fewer, as a rule.
_MOST_LINKS = 1000
#: Where a trace's id stands in a traceparent.
_TRACE_ID = slice(3, 35)

_switched_on = False


def tracer(part: str) -> trace.Tracer:
    """The tracer of one part of the system."""
    return trace.get_tracer(f"tidings.{part}")


def current_traceparent() -> str | None:
    """The W3C header of the span we are in, to travel with an event or an item of work."""
    place = trace.get_current_span().get_span_context()
    return traceparent_of(place) if place.is_valid else None


def traceparent_of(place: trace.SpanContext) -> str:
    """A place in a trace, as the W3C header has it."""
    return f"00-{place.trace_id:032x}-{place.span_id:016x}-{place.trace_flags:02x}"


def trace_id_of(traceparent: str | None) -> str | None:
    """The id of its trace, as logs and audit rows have it."""
    return None if traceparent is None else traceparent[_TRACE_ID]


def is_on() -> bool:
    """Whether this process opens spans."""
    return _switched_on


def started() -> int:
    """When a stage begins whose span is opened later, once it is known what it is about."""
    return time.time_ns() if _switched_on else 0


@contextmanager
def span_of_set(
    part: str,
    name: str,
    traceparents: Iterable[str | None],
    *,
    kind: trace.SpanKind = trace.SpanKind.INTERNAL,
    since: int = 0,
    **attributes: str | int | Sequence[str],
) -> Iterator[trace.Span]:
    """A span for a set of things that each have come with a traceparent, or without one."""
    if not _switched_on:
        yield trace.INVALID_SPAN
        return
    places = [_place(one) for one in dict.fromkeys(traceparents) if one is not None]
    places = [place for place in places if place.is_valid]
    # With one trace behind all of them it is a part of that; the first of its places is as good as any.
    shared = len({place.trace_id for place in places}) == 1
    above = trace.set_span_in_context(trace.NonRecordingSpan(places[0])) if shared else context.Context()
    links = [trace.Link(place) for place in (places[1:] if shared else places)[:_MOST_LINKS]]
    span = tracer(part).start_span(
        name,
        context=above,
        kind=kind,
        links=links,
        attributes={f"tidings.{key}": value for key, value in attributes.items()},
        start_time=since or None,
    )
    # What an exception says may quote a caller or a recipient; its name says enough.
    with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield span
        except BaseException as error:
            span.set_status(trace.StatusCode.ERROR, type(error).__name__)
            raise


def _place(traceparent: str) -> trace.SpanContext:
    found = _PROPAGATOR.extract({"traceparent": traceparent}, context.Context())
    return trace.get_current_span(found).get_span_context()


def configure(otlp_url: str) -> Callable[[], None]:
    """Send spans to a collector; returns what to call at the end so that the last ones arrive."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import SpanLimits, TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise NotConfiguredError(
            "TIDINGS_OTLP_URL needs the tracing extra: pip install 'tidings-platform[tracing]'"
        ) from error
    provider = TracerProvider(
        resource=Resource.create({"service.name": "tidings"}), span_limits=SpanLimits(max_links=_MOST_LINKS)
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=otlp_url)))
    use(provider)
    return provider.shutdown


def use(provider: trace.TracerProvider) -> None:
    """Open spans from now on, and give them to that provider."""
    global _switched_on  # noqa: PLW0603  # as the library has it: one provider a process
    trace.set_tracer_provider(provider)
    _switched_on = True
