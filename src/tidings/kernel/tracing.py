"""Traces from the API to the vendor, through OpenTelemetry.

Code asks for a tracer here and opens spans; without a collector the API's own no-op tracer makes that
nearly free. Attributes are ids, never content. `configure` is called once, by a process that has a
collector to send to, and needs the extra `tidings[tracing]`.
"""

from collections.abc import Callable

from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tidings.kernel.errors import NotConfiguredError

_PROPAGATOR = TraceContextTextMapPropagator()


def tracer(part: str) -> trace.Tracer:
    """The tracer of one part of the system."""
    return trace.get_tracer(f"tidings.{part}")


def current_traceparent() -> str | None:
    """The W3C header of the span we are in, to travel with an event or a request."""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return carrier.get("traceparent")


def configure(otlp_url: str) -> Callable[[], None]:
    """Send spans to a collector; returns what to call at the end so that the last ones arrive."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise NotConfiguredError(
            "TIDINGS_OTLP_URL needs the tracing extra: pip install 'tidings[tracing]'"
        ) from error
    provider = TracerProvider(resource=Resource.create({"service.name": "tidings"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=otlp_url)))
    trace.set_tracer_provider(provider)
    return provider.shutdown
