"""One execution under a virtual clock: workers that take turns, die and steal, vendors that answer and call back.

What a worker does between two writes is a generator; wherever it yields, time passes, others act, and it may die.
"""

import heapq
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final, TypeAlias

from tests.simulation.invariants import Violation, violations
from tests.simulation.pure.disk import Disk, Loaded
from tests.simulation.pure.draw import World, draw
from tests.simulation.pure.reserve import Going, book
from tests.simulation.pure.rules import Rules
from tests.simulation.seen import Ask, Call, Seen, Stamps
from tests.simulation.story import Story
from tidings.contracts.delivery import SkipStep
from tidings.router.state_machine.apply_event import worker_died_events
from tidings.router.state_machine.model import (
    CallSkipped,
    ExecutionEvent,
    ExecutionState,
    StepBarred,
    StepBlocked,
    Transition,
    VendorAnswered,
)
from tidings.router.state_machine.retry_policy import STEP_RETRY_POLICIES

#: Seconds until it goes on.
Work: TypeAlias = Generator[float, None, None]

#: More than this cannot happen to one message unless it goes round in circles.
_MOST_EVENTS: Final = 3_000
#: What rescues and lateness may add to the last clock.
_SLACK: Final = timedelta(minutes=20)
_MOST_NEWS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A seed that failed, with its story."""

    seed: int
    violations: list[Violation]
    story: str

    def __str__(self) -> str:
        said = [str(one) for one in self.violations] or ["Every sentence holds."]
        return "\n".join([f"Seed {self.seed}:", *(f"  {one}" for one in said), self.story])


def simulate(seed: int, rules: Rules | None = None) -> Finding | None:
    """Run one seed; where a sentence does not hold it is run once more, and told."""
    rules = rules or Rules()
    return told(seed, rules) if violations(Run(seed, rules, Story()).go()) else None


def told(seed: int, rules: Rules | None = None) -> Finding:
    """Run one seed and tell its story, whether it fails or not."""
    story = Story(on=True)
    found = violations(Run(seed, rules or Rules(), story).go())
    return Finding(seed=seed, violations=found, story=str(story))


class Run:
    """One seed."""

    def __init__(self, seed: int, rules: Rules, story: Story) -> None:
        self._luck = Random(seed)
        self._world = world = draw(self._luck)
        self._rules = rules
        self._story = story
        self._now = world.begin
        self._stamps = Stamps()
        self.seen = _seen(world)
        self._disk = Disk(self.seen, self._stamps, rules.fences)
        self._heap: list[tuple[datetime, int, Callable[[], None]]] = []
        self._pushed = 0
        self._look_at: datetime | None = None
        self._workers = 0
        self._gone: set[str] = set()

    def go(self) -> Seen:
        """Until nothing can happen any more."""
        self._introduce()
        self._begin()
        clocks = self.seen.clocks
        bound = max(self._world.expires_at, self._world.begin) + max(clocks, default=timedelta()) + _SLACK
        events = 0
        self._watch()
        while self._heap:
            self._now, _, happens = heapq.heappop(self._heap)
            if self._disk.row is not None:
                events += 1
                if events > _MOST_EVENTS or self._now > bound:
                    self.seen.unended = (
                        f"it is under way after {events} events and {self._now - self._world.begin}"
                    )
                    break
            happens()
            self._watch()
        if self._disk.row is not None and self.seen.unended is None:
            self.seen.unended = "it is under way, and nothing will ever wake it"
        return self.seen

    # --- the clock

    def _push(self, seconds: float, happens: Callable[[], None]) -> None:
        at = self._now + timedelta(milliseconds=int(seconds * 1000))
        self._pushed += 1
        heapq.heappush(self._heap, (at, self._pushed, happens))

    def _watch(self) -> None:
        """Somebody looks when it is due."""
        row = self._disk.row
        if row is None or row.claimed_by is not None:
            return
        at = max(row.due_at, self._now)
        if self._look_at is None or at < self._look_at:
            self._look_at = at
            late = self._luck.choice((0.001, 0.02, 0.2))
            self._push((at - self._now).total_seconds() + late, self._look)

    def _look(self) -> None:
        self._look_at = None
        worker = self._hire()
        if self._disk.claim(worker, self._now):
            self._tell(f"{worker} takes the ladder up.")
            self._start(worker, self._advance(worker))

    # --- workers

    def _hire(self) -> str:
        self._workers += 1
        return f"worker {self._workers}"

    def _start(self, worker: str, work: Work) -> None:
        def step() -> None:
            luck = self._luck.random()
            if luck < self._world.dies:
                work.close()
                self._tell(f"{worker} dies.")
                self._push(self._luck.choice((0.1, 5.0, 30.0)), lambda: self._free(worker))
                return
            if luck > 1 - self._world.loses and worker not in self._gone:
                self._gone.add(worker)
                self._tell(f"{worker} is taken for dead, and goes on.")
                self._free(worker)
                self._push(self._luck.choice((0.01, 1.0, 40.0)), step)
                return
            seconds = next(work, None)
            if seconds is not None:
                self._push(seconds, step)

        step()

    def _free(self, worker: str) -> None:
        if self._disk.free(worker, self._now):
            self._tell(f"What {worker} had in hand is free.")

    def _begin(self) -> None:
        world, ladder = self._world, self._rules.machine
        here = ladder.start(
            world.steps,
            use_case=world.use_case,
            expires_at=world.expires_at,
            strategy=world.strategy,
            now=self._now,
            cap=world.cap,
        )
        worker = self._hire()
        if not world.steps:
            self._disk.begin(here, worker=worker, now=self._now)
            self._start(worker, self._advance(worker))
            return
        if world.first_is_ready and world.gate(1, self._now) is None:
            self._ask(worker, 1, loaded=0)
            (answer,) = book(world, self._rules, here, (1,), now=self._now, luck=self._luck)
            if isinstance(answer, Going):
                here = ladder.open_attempts(here, {1: answer.call}, now=self._now)
                self._disk.begin(here, worker=worker, now=self._now)
                stamp = self._noted([answer])
                self._tell(f"{worker} hands it over with its first call noted.")
                loaded = Loaded(here, 1, (), stamp)
                self._start(worker, self._call(worker, loaded, [answer], stamp))
                return
        self._disk.begin(here, worker=None, now=self._now)

    def _advance(self, worker: str) -> Work:
        loaded = self._disk.load(worker)
        if loaded is None:
            return
        yield self._moment()
        died = worker_died_events(loaded.here.active_steps)
        happened: tuple[ExecutionEvent, ...] = (*died, *loaded.heard)
        turn = self._turn(loaded.here, happened)
        going: list[Going] = []
        refused: list[StepBarred | StepBlocked] = []
        if turn.ask and not died:
            ready = [step for step in turn.ask if self._let_through(worker, step, loaded, refused)]
            yield self._luck.choice((0.005, 0.1, 0.1, 3.0))
            answers = book(self._world, self._rules, turn.state, ready, now=self._now, luck=self._luck)
            going = [one for one in answers if isinstance(one, Going)]
            refused += [one for one in answers if not isinstance(one, Going)]
            if refused:
                self._tell_refused(refused)
                happened = (*happened, *refused)
                turn = self._rules.machine.further(turn, refused, now=self._now, jitter=self._luck.random())
        # Time has passed since they were asked for: some may be over by now.
        going = [one for one in going if one.step in turn.ask]
        if going:
            marks = {one.step: one.call for one in going}
            turn = self._rules.machine.opened(turn, marks, now=self._now)
        yield from self._record(worker, loaded, happened, turn, going=going, refused=refused)

    def _let_through(
        self, worker: str, step: int, loaded: Loaded, refused: list[StepBarred | StepBlocked]
    ) -> bool:
        answer = self._ask(worker, step, loaded=loaded.stamp)
        if answer is not None:
            refused.append(answer)
        return answer is None

    def _ask(self, worker: str, step: int, *, loaded: int) -> StepBarred | None:
        said = self._world.gate(step, self._now)
        ends = isinstance(said, SkipStep) and said.ends
        self.seen.asks.append(
            Ask(
                worker=worker,
                step=step,
                at=self._now,
                stamp=self._stamps.next(),
                answer="ready"
                if said is None
                else "ends"
                if ends
                else "skip"
                if isinstance(said, SkipStep)
                else "wait",
                loaded=loaded,
                reason=None if said is None else said.reason,
            )
        )
        return None if said is None else StepBarred(step=step, by=said)

    def _record(
        self,
        worker: str,
        loaded: Loaded,
        happened: Sequence[ExecutionEvent],
        turn: Transition,
        *,
        going: Sequence[Going] = (),
        refused: Sequence[StepBarred | StepBlocked] = (),
    ) -> Work:
        """As `TransitionCommitter.commit`: where the version check fails it is loaded and decided again, without the attempts."""
        yield self._moment()
        for _ in range(_MOST_NEWS):
            if self._disk.write(loaded, turn, worker=worker, keep=bool(going), now=self._now):
                self._tell_written(worker, turn, going)
                self._note_refused(turn, refused)
                stamp = self._noted(going)
                if self._luck.random() >= self._world.forgets:
                    if going:
                        written = Loaded(turn.state, loaded.version + 1, (), stamp)
                        yield from self._call(worker, written, going, stamp)
                    return
                self._tell(f"{worker} does not learn that this was committed.")
            again = self._disk.load(worker)
            if again is None:
                self._tell(f"{worker} has lost its claim, and writes nothing.")
                return
            self._tell(f"{worker} has missed the news, and decides anew.")
            loaded, going, refused = again, (), ()
            turn = self._turn(loaded.here, (*loaded.heard, *happened))
            yield self._moment()
        self._free(worker)

    def _call(self, worker: str, loaded: Loaded, going: Sequence[Going], noted: int) -> Work:
        yield self._moment()
        answers: list[ExecutionEvent] = []
        latency = 0.0
        for one in going:
            if self._now >= self._world.expires_at:
                self.seen.not_made.add(one.call.id)
                answers.append(CallSkipped(step=one.step))
                self._tell(f"It is too late for {self._name(one)}.")
                continue
            vendor = self._world.vendors[one.call.vendor]
            doing = vendor.act(self._luck)
            latency = max(latency, doing.latency)
            self.seen.calls.append(
                Call(
                    worker=worker,
                    step=one.step,
                    channel=self._world.steps[one.step - 1].channel,
                    vendor=vendor.name,
                    at=self._now,
                    noted=noted,
                    stamp=self._stamps.next(),
                    attempt_id=one.call.id,
                )
            )
            if not vendor.receipts:
                self.seen.without_receipts.add(one.call.id)
            self._tell(f"{worker} calls {vendor.name} for {self._name(one)}: {doing.temper}.")
            for place, saying in enumerate(doing.sayings):
                for time in range(saying.times):
                    self._say(one.call.id, saying.status, saying.after, place, time, knows_us=doing.knows_us)
            answers.append(VendorAnswered(step=one.step, outcome=doing.outcome, receipts=vendor.receipts))
        yield latency
        turn = self._turn(loaded.here, answers)
        yield from self._record(worker, loaded, answers, turn)

    def _turn(self, here: ExecutionState, happened: Sequence[ExecutionEvent]) -> Transition:
        return self._rules.machine.transition(here, happened, now=self._now, jitter=self._luck.random())

    def _moment(self) -> float:
        return self._luck.choice((0.001, 0.001, 0.004, 0.05))

    # --- receipts

    def _say(
        self, attempt_id: str, status: str, after: float, place: int, time: int, *, knows_us: bool
    ) -> None:
        # A repeated receipt has the same id, or pretends to be another one.
        number = time if self._luck.random() < 0.5 else 0
        receipt_id = f"{attempt_id}:{place}:{number}"
        tries = 0

        def arrives() -> None:
            nonlocal tries
            disk = self._disk
            if attempt_id not in disk.attempts:
                # Nobody knows the message yet, or ever; it is looked for again for a while.
                tries += 1
                if tries < 12 and disk.row is not None:
                    self._push(min(2.0**tries, 600.0), arrives)
                return
            if disk.attempts[attempt_id] is None and not knows_us:
                return
            if disk.hear(receipt_id, attempt_id, status, self._now):
                late = "" if disk.row is not None else ", too late"
                self._tell(f"A receipt says {status} of {self._story.call(attempt_id)}{late}.")

        self._push(after + time * self._luck.choice((0.0, 0.5, 30.0)), arrives)

    # --- what is noted, and told

    def _noted(self, going: Sequence[Going]) -> int:
        for one in going:
            self.seen.noted.append(one.call.id)
            self.seen.held[one.call.id] = one.call.reserved
        return self.seen.writes[-1].stamp

    def _note_refused(self, turn: Transition, refused: Sequence[StepBarred | StepBlocked]) -> None:
        """What the gates and the purse have said is known from here on."""
        legs = {leg.step for leg in turn.state.active_steps}
        stamp = self.seen.writes[-1].stamp
        for one in refused:
            if isinstance(one, StepBarred) and isinstance(one.by, SkipStep):
                self.seen.skips.append((one.step, one.by.reason))
                if one.by.ends:
                    return
            elif one.step in legs:
                until = one.until if isinstance(one, StepBlocked) else one.by.until  # type: ignore[union-attr]
                self.seen.waits.append((one.step, until, stamp))

    def _tell(self, sentence: str) -> None:
        self._story.tell(self._now, sentence)

    def _name(self, one: Going) -> str:
        return f"step {one.step} ({self._story.call(one.call.id)}, {one.call.reserved} held)"

    def _introduce(self) -> None:
        if not self._story.on:
            return
        world = self._world
        self._tell(
            f"A {world.use_case} message begins: {world.strategy}, cap {world.cap}, "
            f"its clock ends after {world.expires_at - world.begin}."
        )
        for place, step in enumerate(world.steps, 1):
            self._tell(
                f"Step {place}: {step.channel} by {', '.join(step.vendors) or 'nobody'}, has to be {step.success}, "
                f"{self.seen.budgets[place - 1]} calls within {self.seen.clocks[place - 1]}"
                f"{', barred' if step.barred else ''}{', in hours' if step.hours else ''}."
            )

    def _tell_refused(self, refused: Sequence[StepBarred | StepBlocked]) -> None:
        for one in refused if self._story.on else ():
            by = one.by if isinstance(one, StepBarred) else one
            until = getattr(by, "until", None)
            self._tell(f"Step {one.step} is held back: {by.reason}{f' until {until}' if until else ''}.")

    def _tell_written(self, worker: str, turn: Transition, going: Sequence[Going]) -> None:
        if not self._story.on:
            return
        for past in turn.new_attempts:
            self._tell(
                f"{worker} writes {past.status} ({past.reason}) of step {past.step}, {past.cost} spent."
            )
        for past in turn.late:
            self._tell(f"{worker} gives {self._story.call(past.id)} up.")
        if turn.end is not None:
            self._tell(f"It ends: {turn.end.result} ({turn.end.evidence or turn.end.reason}).")
        for one in going:
            self._tell(f"{worker} notes {self._name(one)} by {one.call.vendor}.")


def _seen(world: World) -> Seen:
    policy = STEP_RETRY_POLICIES[world.use_case]
    last = len(world.steps)
    return Seen(
        steps=world.steps,
        use_case=world.use_case,
        strategy=world.strategy,
        begin=world.begin,
        expires_at=world.expires_at,
        cap=world.cap,
        budgets=tuple(policy.tries if s.retries is None else s.retries + 1 for s in world.steps),
        clocks=tuple(
            timedelta(seconds=s.deadline)
            if s.deadline is not None
            else policy.last_step_timeout
            if place == last
            else policy.step_timeout
            for place, s in enumerate(world.steps, 1)
        ),
    )
