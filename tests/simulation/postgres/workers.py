"""One process' router, the real one, over a database and vendors that it may die at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

from tests.simulation.postgres.draw import Person, Setting
from tests.simulation.postgres.mortal import Fate, MortalDatabase
from tests.simulation.postgres.vendors import PlayedAdapters, Process, Street
from tests.simulation.pure.draw import held_back
from tests.simulation.seen import Ask, Stamps
from tests.support.ladders import message
from tidings.contracts.delivery import HandOff, PlannedDelivery, PreparedStep, ReadyStep, SkipStep, StepAsk
from tidings.kernel.db import Database
from tidings.kernel.durable.claims import ClaimingJob
from tidings.kernel.durable.in_hand import InHand
from tidings.kernel.durable.presence import WORKER
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.hot_state import Limits
from tidings.kernel.ids import TenantId
from tidings.kernel.local_hot_state.attendance import AttendanceList
from tidings.router.accounts.accounts import Accounts
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.executions.advance import Advancer
from tidings.router.executions.call import VendorCaller
from tidings.router.executions.commit import TransitionCommitter
from tidings.router.executions.jobs import DUE_EXECUTIONS, DUE_SETTINGS
from tidings.router.executions.model import ExecutionChange, ExecutionId, ExecutionObserver
from tidings.router.executions.record import Recorder
from tidings.router.executions.reserve import AttemptReserver
from tidings.router.executions.router import ExecutionRouter
from tidings.router.policies.plan import Planner
from tidings.router.policies.policies import Policies
from tidings.router.prices.rates import Rates
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.status_map.meanings import Meanings
from tidings.router.traffic.vendor_selection import VendorSelection
from tidings.router.vendors.vendors import Vendors


class Gates:
    """Notify's side of the port: gates by their weather, and a note of every ask."""

    def __init__(
        self, process: Process, street: Street, people: dict[str, Person], asks: dict[str, list[Ask]]
    ) -> None:
        self._process = process
        self._street = street
        self._people = people
        self._asks = asks

    async def prepare(self, asks: Sequence[StepAsk]) -> list[PreparedStep]:
        """One answer each; rendering takes its time."""
        self._process.fate.touch()
        answers = [self.one(ask.tenant_id, ask.notification_id, ask.step, ask.channel) for ask in asks]
        if self._process.luck.random() < 0.2:
            await self._street.clock.advance(timedelta(seconds=self._process.luck.choice((0.1, 3.0))))
        self._process.fate.strike()
        return answers

    def one(
        self, tenant_id: TenantId, notification_id: str, step: int, channel: str, *, handed: bool = False
    ) -> PreparedStep:
        """What the gates of one step say now."""
        person, now = self._people[notification_id], self._street.clock.now()
        said = held_back(person.gates[step].at(now))
        stamp = self._street.stamps.next()
        skip = isinstance(said, SkipStep)
        self._asks.setdefault(notification_id, []).append(
            Ask(
                worker=self._process.name,
                step=step,
                at=now,
                stamp=stamp,
                answer="ready" if said is None else "wait" if not skip else "ends" if said.ends else "skip",  # type: ignore[union-attr]
                loaded=0 if handed else stamp,
                reason=None if said is None else said.reason,
            )
        )
        if said is not None:
            self._street.tell(notification_id, f"The gate of step {step} says {said.reason}.")
            return said
        words = message(tenant_id, notification_id, channel, to=person.to)
        return ReadyStep(message=replace(words, metadata={"step": step}))


async def _nobody_answers(*_: object) -> None:
    """Its vendors take no answers."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StampedRecorder(Recorder):
    """The real one; whoever notes a call leaves a stamp, so that "before" can be said of receipts."""

    stamps: Stamps
    noted: dict[str, int]

    async def _write(
        self, worker: str, changes: Sequence[ExecutionChange], *, apart: bool = False
    ) -> set[ExecutionId]:
        stamp = self.stamps.next()
        self.noted.update({note.execution.notification_id: stamp for note in changes if note.keep})
        return await super()._write(worker, changes, apart=apart)


class MortalWorker(Process):
    """The parts of `bootstrap` that make a router, each over this process' own database."""

    def __init__(
        self,
        db: Database,
        street: Street,
        limits: Limits,
        *,
        people: dict[str, Person],
        asks: dict[str, list[Ask]],
        luck: Random,
        name: str,
        machine: ExecutionStateMachine,
        setting: Setting,
    ) -> None:
        clock = street.clock
        fate = Fate(luck, dies=setting.dies, stumbles=setting.stumbles)
        super().__init__(WORKER.new(clock.now()), name, fate, luck, loses=setting.loses)
        self._plain = db
        self.db = MortalDatabase(db, fate)
        self.gates = Gates(self, street, people, asks)
        due_timer, observer, in_hand = DueTimer(), ExecutionObserver(), InHand()
        draw: Callable[[], float] = luck.random
        # What is only remembered is read past death, so that the last transaction is always the one that counts.
        accounts = Accounts(db, vendors=frozenset(ADAPTERS), clock=clock)
        policies = Policies(db, clock=clock)
        adapters = PlayedAdapters(street, self)
        vendors = Vendors(accounts, adapters)  # type: ignore[arg-type]
        self.traffic = VendorSelection(limits, clock=clock)
        planner = Planner(
            db,
            policies=policies,
            accounts=accounts,
            rates=Rates(),
            traffic=self.traffic,
            clock=clock,
            random_unit=draw,
            attendance=AttendanceList(db, clock),
        )
        reserver = AttemptReserver(
            accounts, self.traffic, senders=adapters, rates=Rates(), clock=clock, random_unit=draw
        )
        recorder = StampedRecorder(
            self.db,
            clock=clock,
            due_timer=due_timer,
            note_sent=_nobody_answers,
            observer=observer,
            stamps=street.stamps,
            noted=self.noted,
        )
        self._stamps = street.stamps
        committer = TransitionCommitter(
            self.db, recorder, machine=machine, clock=clock, jitter=draw, observer=observer
        )
        caller = VendorCaller(
            self.db,
            vendors,
            committer,
            machine=machine,
            jitter=draw,
            traffic=self.traffic,
            meanings=Meanings(db, clock=clock),
            policies=policies,
            clock=clock,
            observer=observer,
        )
        self.router = ExecutionRouter(
            self.db,
            planner,
            reserver,
            caller,
            committer,
            machine=machine,
            worker_id=lambda: self.id,
            clock=clock,
            due_timer=due_timer,
            in_hand=in_hand,
        )
        advancer = Advancer(
            self.db,
            caller,
            committer,
            self.gates,
            reserver,
            machine=machine,
            jitter=draw,
            clock=clock,
            observer=observer,
        )
        self.due = ClaimingJob(
            self.db,
            DUE_EXECUTIONS,
            work_on_set=advancer.advance,
            name="due",
            worker_id=lambda: self.id,
            clock=clock,
            due_timer=due_timer,
            in_hand=in_hand,
            # Sets of one, of a few and of all that is due: each has its own ways to go wrong.
            settings=replace(DUE_SETTINGS, limit=luck.choice((1, 3, 200))),
        )

    async def announce(self) -> None:
        """The others know it from now on."""
        async with self._plain.worker() as tx:
            await tx.connection.execute("INSERT INTO kernel.workers (id, lock_key) VALUES ($1, 1)", self.id)

    async def forget(self) -> None:
        """The others take it for dead."""
        self.fate.given_up = True
        async with self._plain.worker() as tx:
            await tx.connection.execute("DELETE FROM kernel.workers WHERE id = $1", self.id)

    async def taken_for_dead(self) -> None:
        """While a vendor keeps it waiting."""
        await self.forget()
        async with self._plain.worker() as tx:
            await DUE_EXECUTIONS.free_orphans(tx, worker=None, held=(), fresh=None)

    async def hand_over(self, tenant_id: TenantId, hand_offs: Sequence[HandOff]) -> None:
        """As notify's dispatcher does it."""
        plans = await self.router.plan(hand_offs)
        begins: list[PlannedDelivery] = []
        for hand_off, plan in zip(hand_offs, plans, strict=True):
            first = None
            if plan.first is not None:
                said = self.gates.one(tenant_id, hand_off.notification_id, 1, plan.first, handed=True)
                first = said if isinstance(said, ReadyStep) else None
            begins.append(PlannedDelivery(hand_off=hand_off, plan=plan, first=first))
        booked = await self.router.reserve(begins)
        stamp = self._stamps.next()
        self.noted.update({one.notification_id: stamp for one in hand_offs})
        async with self.db.tenant(tenant_id) as tx:
            begun = await self.router.start_in(tx, booked)
        await begun()
