"""The circuit breaker of an upstream service."""

from datetime import UTC, datetime

from tidings.backoffice.upstreams.circuit import UpstreamCircuit

_AT = datetime(2026, 11, 19, 12, tzinfo=UTC)


def _fail(circuit: UpstreamCircuit, times: int, now: float = 0.0) -> None:
    for _ in range(times):
        circuit.failed(now, _AT, lambda: 0.0)


def test_a_few_failures_open_nothing_and_five_in_a_row_do() -> None:
    circuit = UpstreamCircuit()

    _fail(circuit, 4)
    assert circuit.lets_pass(0.0)

    _fail(circuit, 1)
    assert circuit.state == "open"
    assert not circuit.lets_pass(4.9)


def test_half_of_the_calls_open_it_though_others_succeed() -> None:
    circuit = UpstreamCircuit()

    for moment in range(6):
        circuit.succeeded(moment)
        circuit.failed(moment, _AT, lambda: 0.0)

    assert circuit.state == "open"


def test_failures_of_long_ago_do_not_count() -> None:
    circuit = UpstreamCircuit()

    _fail(circuit, 4, now=0.0)
    _fail(circuit, 1, now=31.0)

    assert circuit.state == "closed"


def test_one_probe_goes_and_closes_it() -> None:
    circuit = UpstreamCircuit()
    _fail(circuit, 5)

    assert circuit.lets_pass(5.1)
    assert not circuit.lets_pass(5.2), "the others wait for the probe"
    circuit.succeeded(5.3)

    assert circuit.state == "closed"
    assert circuit.failing_since is None
    assert circuit.lets_pass(5.4)


def test_a_probe_that_fails_doubles_the_pause() -> None:
    circuit = UpstreamCircuit()
    _fail(circuit, 5)

    assert circuit.lets_pass(5.1)
    _fail(circuit, 1, now=5.2)

    assert not circuit.lets_pass(12.0)
    assert circuit.lets_pass(16.0)
    assert circuit.failing_since == _AT


def test_a_probe_whose_caller_died_gives_way_to_another() -> None:
    circuit = UpstreamCircuit()
    _fail(circuit, 5)

    assert circuit.lets_pass(6.0)
    assert not circuit.lets_pass(15.0)
    assert circuit.lets_pass(16.5)
