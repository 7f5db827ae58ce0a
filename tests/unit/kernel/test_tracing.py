"""One span for a set, connected to every trace that it is part of."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tidings.kernel import tracing

ONE, OTHER = "a" * 32, "b" * 32


def parent(trace_id: str, span: int = 1) -> str:
    return f"00-{trace_id}-{span:016x}-01"


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Spans as a collector would get them; the process' own provider is left alone."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_switched_on", True)
    monkeypatch.setattr(tracing, "tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def traces_of(span: ReadableSpan) -> list[str]:
    return [f"{link.context.trace_id:032x}" for link in span.links]


def test_a_set_of_one_trace_is_part_of_it(collected: InMemorySpanExporter) -> None:
    with tracing.span_of_set("dispatch", "stage", [parent(ONE), parent(ONE), None], tenant_id="tnt_1"):
        inside = tracing.current_traceparent()

    (span,) = collected.get_finished_spans()
    assert span.parent is not None
    assert (f"{span.parent.trace_id:032x}", span.parent.span_id) == (ONE, 1)
    assert traces_of(span) == []
    assert span.attributes == {"tidings.tenant_id": "tnt_1"}
    assert tracing.trace_id_of(inside) == ONE


def test_a_set_of_several_is_linked_to_each(collected: InMemorySpanExporter) -> None:
    with tracing.span_of_set("dispatch", "stage", [parent(ONE), parent(OTHER)]):
        pass

    (span,) = collected.get_finished_spans()
    assert span.parent is None
    assert traces_of(span) == [ONE, OTHER]


def test_what_came_without_a_trace_begins_one(collected: InMemorySpanExporter) -> None:
    """Also where what came is no traceparent at all: whoever wrote it must not stop the work."""
    with tracing.span_of_set("dispatch", "stage", [None, "nonsense"]):
        pass

    (span,) = collected.get_finished_spans()
    assert (span.parent, traces_of(span)) == (None, [])


def test_an_error_marks_the_span_by_its_name_alone(collected: InMemorySpanExporter) -> None:
    """It goes on to the caller; its words may be somebody's."""
    with pytest.raises(LookupError), tracing.span_of_set("dispatch", "stage", [parent(ONE)]):
        raise LookupError("ada@example.org")

    (span,) = collected.get_finished_spans()
    assert not span.status.is_ok
    assert "LookupError" in span.to_json()
    assert "ada@example.org" not in span.to_json()


def test_without_a_collector_there_is_no_span() -> None:
    looked_at: list[str] = []
    traceparents = (looked_at.append(one) or one for one in [parent(ONE)])  # type: ignore[func-returns-value]

    with tracing.span_of_set("dispatch", "stage", traceparents) as span:
        assert not span.is_recording()

    assert looked_at == []
    assert tracing.started() == 0
    assert tracing.current_traceparent() is None
