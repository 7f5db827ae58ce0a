"""Traces as short text: written, read back, added to."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tests.support.facts import EVERY_NIGHT, NIGHT, facts, person, request, step
from tidings.notify.decide.decide import decide, decide_step
from tidings.notify.decide.model import Gate, TraceLine
from tidings.notify.decide.reasons import GateReason
from tidings.notify.decide.trace import append, decode, encode
from tidings.notify.recipients.preferences_model import Choices

lines = st.builds(
    TraceLine,
    st.sampled_from([gate.value for gate in Gate]),
    st.sampled_from(["pass", "stop", "defer"]),
    st.one_of(st.none(), st.sampled_from([reason.value for reason in GateReason])),
    st.one_of(st.none(), st.integers(0, 4_000_000_000).map(lambda at: datetime.fromtimestamp(at, UTC))),
    st.integers(0, 30),
    st.one_of(st.none(), st.just("sup_01JCQ7Z0000000000000000000")),
)


@given(st.lists(lines, max_size=20))
def test_what_is_written_is_read_back(trace: list[TraceLine]) -> None:
    assert decode(encode(trace)) == trace


@given(st.lists(lines, max_size=5), st.lists(lines, max_size=5))
def test_more_is_added_at_the_end(first: list[TraceLine], second: list[TraceLine]) -> None:
    assert decode(append(encode(first), second)) == first + second


def test_a_trace_is_short() -> None:
    deferred = decide(facts(person(choices=Choices(quiet_hours=(EVERY_NIGHT,)))), request(), NIGHT)
    sent = decide_step(facts(), step(), NIGHT)

    assert encode(deferred.trace) == "t+;e+;r+;c+;q~quiet_hours@1794796200"
    assert encode(sent.trace) == "1.s+;1.e+;1.t+;1.r+;1.h+;1.a+;1.p+;1.f+;1.q+"


def test_a_newer_gate_is_shown_as_it_is() -> None:
    assert decode("zz-gone_fishing;t+") == [
        TraceLine("zz", "stop", "gone_fishing"),
        TraceLine("tenant_active", "pass"),
    ]
    assert decode(None) == []
