"""Whatever vendors, gates and clocks do: a ladder ends, once, within its clocks and budgets."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidings.contracts.delivery import SkipStep, WaitStep
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.router.ladder.decide import Ladder, moved, told_as
from tidings.router.ladder.model import (
    Again,
    Call,
    End,
    Happened,
    Next,
    Past,
    Position,
    Step,
    Wait,
    WorkerDied,
)
from tidings.router.ladder.patience import PATIENCE

START = datetime(2026, 11, 15, 12, tzinfo=UTC)
RESULTS = ("FAILED", "REFUSED_NO_CHANNEL", "REFUSED_CONSENT", "REFUSED_SENDER_UNAUTHORIZED")

durations = st.integers(0, 100_000).map(lambda s: timedelta(seconds=s))
steps = st.lists(
    st.builds(Step, channel=st.sampled_from(["email", "sms", "voice"]), vendor=st.sampled_from(["a", "b"])),
    max_size=5,
).map(tuple)
gate = st.one_of(
    st.none(),
    st.builds(SkipStep, reason=st.just("no_address"), result=st.sampled_from(RESULTS), ends=st.booleans()),
    durations.map(lambda d: WaitStep(until=START + d, reason="quiet_hours")),
)
answer = st.one_of(
    st.just(Unlearned(reason="?")),
    st.just(WorkerDied()),
    st.builds(
        Refused, reason=st.just("no"), code=st.sampled_from(["5.1.1", "5.7.1", "x"]), permanent=st.booleans()
    ),
    st.builds(TryLater, reason=st.just("later"), code=st.just("4.3.0"), after=st.none() | durations),
    st.just(Accepted()),
)
takes = st.integers(0, 300).map(lambda s: timedelta(seconds=s))


@given(
    data=st.data(),
    ladder_steps=steps,
    use_case=st.sampled_from(sorted(PATIENCE)),
    life=st.integers(1, 200_000).map(lambda s: timedelta(seconds=s)),
)
def test_it_ends_once_within_clocks_and_budgets(
    data: st.DataObject, ladder_steps: tuple[Step, ...], use_case: str, life: timedelta
) -> None:
    ladder = Ladder()
    here = Position(steps=ladder_steps, use_case=use_case, expires_at=START + life)  # type: ignore[arg-type]
    budget = PATIENCE[here.use_case].tries
    now, calls, waits = START, dict.fromkeys(range(1, 6), 0), 0
    end: End | None = None
    while end is None:
        decision = ladder.look(here, now=now)
        past: Past | None = None
        if isinstance(decision, Call):
            barred = data.draw(gate)
            happened: Happened
            if isinstance(barred, WaitStep) and barred.until <= now:
                # A gate that says "not now" names a moment to come; one that never does is notify's mistake.
                barred = WaitStep(until=now + timedelta(seconds=60), reason=barred.reason)
            if barred is not None:
                happened = barred
            else:
                assert now < here.expires_at
                assert here.step_deadline_at is None or now < here.step_deadline_at
                deadline = ladder.step_deadline(here, now=now)
                assert now < deadline <= here.expires_at
                here = Position(
                    steps=here.steps, use_case=here.use_case, expires_at=here.expires_at, step=here.step,
                    tries=here.tries + 1, step_deadline_at=deadline, past=here.past,
                )  # fmt: skip
                calls[here.step] += 1
                now += data.draw(takes)
                happened = data.draw(answer)
            decision = ladder.after(here, happened, now=now, luck=data.draw(st.floats(0, 1)))
            told = told_as(happened)
            if told is not None:
                result = happened.result if isinstance(happened, SkipStep) else None
                past = Past(
                    id="attempt_x", step=here.step, channel=here.steps[here.step - 1].channel,
                    status=told[0], started_at=now, ended_at=now, reason=told[1], result=result,
                )  # fmt: skip
        if isinstance(decision, End):
            end = decision
            break
        before = here
        here, due_at = moved(here, decision, past, now=now)
        assert due_at >= now
        match decision:
            case Again(at=at):
                assert at < here.expires_at
                assert here.tries < budget
            case Wait(until=until):
                waits += 1
                assert until < here.expires_at
            case Next(step=step):
                assert before.step < step <= len(here.steps)
        now = due_at

    assert all(count <= budget for count in calls.values())
    assert (end.result == "DELIVERED") == (end.evidence is not None)
    assert end.result == "DELIVERED" or end.reason is not None or not here.past
    if not ladder_steps:
        assert end.result == "REFUSED_NO_CHANNEL"


@given(use_case=st.sampled_from(sorted(PATIENCE)), tries=st.integers(1, 10_000), luck=st.floats(0, 1))
def test_pauses_grow_and_stay_within_their_bounds(use_case: str, tries: int, luck: float) -> None:
    patience = PATIENCE[use_case]  # type: ignore[index]
    pause = patience.pause(tries, luck=luck)

    assert timedelta(0) < pause <= patience.longest_pause
    assert pause <= patience.pause(tries + 1, luck=1)
