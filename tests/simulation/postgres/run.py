"""A handful of messages over the real router on Postgres: several workers under one virtual clock.

A seed fixes the policies, the vendors' characters and everybody's luck. Who comes first within a moment is Postgres'
business, so a seed that failed need not fail again; its story is told as it was.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Final

from tests.simulation.invariants import Violation, violations
from tests.simulation.postgres.draw import Person, draw
from tests.simulation.postgres.mortal import Killed
from tests.simulation.postgres.reading import announced, read
from tests.simulation.postgres.vendors import RECEIPT, Pending, Street
from tests.simulation.postgres.workers import MortalWorker
from tests.simulation.seen import Ask, Receipt, Seen, Stamps, Write
from tests.simulation.story import Story
from tests.support.system import now_clock
from tidings.contracts.delivery import DeliveryRoute, HandOff
from tidings.contracts.enums import AUTO
from tidings.contracts.ids import NOTIFICATION, RECIPIENT
from tidings.kernel.db import Database, Row
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.ids import TenantId
from tidings.kernel.local_hot_state import LocalHotState
from tidings.router import receipts
from tidings.router.accounts import store as accounts_store
from tidings.router.executions import receipts as receipts_store
from tidings.router.executions.model import moment
from tidings.router.executions.snapshot import state_of
from tidings.router.policies import store as policies_store
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.traffic.circuit import Circuit
from tidings.router.traffic.traffic_state import AccountCircuit

#: Looks at the clock after which a world goes round in circles.
_MOST_LOOKS: Final = 600
#: A message is over so long after its own clock, whatever happens.
_BOUND: Final = timedelta(hours=6)


class PostgresRun:
    """One seed."""

    def __init__(
        self, seed: int, db: Database, tenant_id: TenantId, *, ladder: ExecutionStateMachine | None = None
    ) -> None:
        self.seed = seed
        self._ladder = ladder or ExecutionStateMachine()
        self._db = db
        self._tenant_id = tenant_id
        self._luck = Random(seed)
        self._clock = now_clock()
        self._begin = self._clock.now()
        self._stamps = Stamps()
        self._setting = draw(self._luck, self._begin)
        self.story = Story(on=True)
        self._names: dict[str, str] = {}
        self._people: dict[str, Person] = {}
        self._hand_offs: dict[str, HandOff] = {}
        self._asks: dict[str, list[Ask]] = {}
        self._receipts: dict[str, list[Receipt]] = {}
        self._writes: dict[str, list[Write]] = {}
        self._street = Street(
            vendors=self._setting.vendors,
            clock=self._clock,
            stamps=self._stamps,
            luck=self._luck,
            tell=self._tell,
        )
        #: Messages whose receipts are being written, and those of which two were written side by side.
        self._hearing: Counter[str] = Counter()
        self._overlapped: set[str] = set()
        self._workers: list[MortalWorker] = []
        self._all_workers: list[MortalWorker] = []
        self._rescue_at: datetime | None = None
        self._circuits: dict[str, AccountCircuit] = {}
        self._unended: str | None = None
        #: Workers that died, or were taken for dead.
        self.died = 0
        #: What was seen of each message, in the end.
        self.seen: list[Seen] = []

    async def go(self) -> list[Violation]:
        """Until every message is over and every receipt was heard; what does not hold."""
        await self._set_up()
        for _ in range(self._setting.workers):
            await self._hire()
        await self._hand_over()
        for _ in range(_MOST_LOOKS):
            await self._look()
            if not await self._move_on():
                break
        else:
            self._unended = f"it is under way after {_MOST_LOOKS} looks"
        await self._patiently([worker.due.drain() for worker in self._workers])
        self.seen = await self._seen()
        self._tell_ends()
        return [violation for seen in self.seen for violation in violations(seen)]

    # --- before

    async def _set_up(self) -> None:
        setting = self._setting
        async with self._db.tenant(self._tenant_id) as tx:
            await accounts_store.insert_accounts(tx, setting.accounts)
            for policy in setting.policies:
                await policies_store.insert_policy(tx, policy, actor="simulation")
        routes = tuple(
            DeliveryRoute(channel=name.split("_")[1], vendor=name)  # type: ignore[arg-type]
            for name in setting.vendors
        )
        for number, person in enumerate(setting.people, 1):
            now = self._clock.now()
            hand_off = HandOff(
                tenant_id=self._tenant_id,
                notification_id=NOTIFICATION.new(now),
                recipient_id=RECIPIENT.new(now),
                use_case=person.use_case,
                priority=person.priority,
                expires_at=now + person.lives,
                routes=tuple(
                    route for route in routes if person.channel is None or route.channel == person.channel
                ),
                channel=person.channel or AUTO,
            )
            self._names[hand_off.notification_id] = f"message {number}"
            self._people[hand_off.notification_id] = person
            self._hand_offs[hand_off.notification_id] = hand_off
            self._tell(
                hand_off.notification_id,
                f"It is to be handed over: {hand_off.use_case}, {hand_off.channel}, for {person.lives}.",
            )

    async def _hire(self) -> None:
        worker = MortalWorker(
            self._db,
            self._street,
            LocalHotState(self._db, self._clock).limits,
            people=self._people,
            asks=self._asks,
            luck=self._luck,
            name=f"worker {len(self._all_workers) + 1}",
            machine=self._ladder,
            setting=self._setting,
        )
        await worker.announce()
        worker.traffic.learn_circuits(self._circuits.values())
        self._workers.append(worker)
        self._all_workers.append(worker)

    async def _hand_over(self) -> None:
        """In sets; what a worker that died did not hand over is handed over by another."""
        left = list(self._hand_offs.values())
        while left:
            some = left[: self._luck.randint(1, 4)]
            worker = self._luck.choice(self._workers)
            await self._patiently([worker.hand_over(self._tenant_id, some)])
            await self._bury()
            async with self._db.tenant(self._tenant_id) as tx:
                known = await tx.connection.fetch(
                    "SELECT notification_id FROM chan.executions_live "
                    "UNION SELECT notification_id FROM chan.fallback_executions"
                )
            done = {row["notification_id"] for row in known}
            left = [one for one in left if one.notification_id not in done]

    # --- one moment

    async def _look(self) -> None:
        """Everybody does at once what is due."""
        self._turn_circuits()
        if self._rescue_at is not None and self._clock.now() >= self._rescue_at:
            self._rescue_at = None
            for worker in self._workers:
                async with self._db.worker() as tx:
                    await worker.due.free_orphans(tx)
        now = self._clock.now()
        heard = [one for one in self._street.pending if one.at <= now]
        self._street.pending[:] = [one for one in self._street.pending if one.at > now]
        self._luck.shuffle(heard)
        work: list[Awaitable[object]] = [worker.due.drain() for worker in self._workers]
        if heard:
            middle = self._luck.randint(0, len(heard))
            work += [self._hear(some) for some in (heard[:middle], heard[middle:]) if some]
        self._luck.shuffle(work)
        await self._patiently(work)
        await self._bury()

    async def _patiently(self, work: Sequence[Awaitable[object]]) -> None:
        """Until all of it is done; while somebody sleeps by the virtual clock, it goes on."""
        tasks = [asyncio.ensure_future(one) for one in work]
        while True:
            _, open_ = await asyncio.wait(tasks, timeout=0.1)
            if not open_:
                break
            await self._clock.advance(timedelta(seconds=0.1))
        for task in tasks:
            error = task.exception()
            if error is not None and not isinstance(error, Killed | DatabaseUnavailableError):
                raise error

    async def _bury(self) -> None:
        """Whoever died is replaced; what it had in hand is freed a little later."""
        for worker in list(self._workers):
            if not worker.fate.dead and not worker.fate.given_up:
                continue
            self.story.tell(
                self._clock.now(), f"{worker.name} {'dies' if worker.fate.dead else 'is taken for dead'}."
            )
            self.died += 1
            self._workers.remove(worker)
            # Its other tasks end as soon as they touch anything.
            worker.fate.dead = True
            tasks = list(worker.due._tasks)
            if tasks:
                await asyncio.wait(tasks)
            await worker.forget()
            await self._hire()
            self._rescue_at = self._clock.now() + timedelta(seconds=self._luck.choice((0, 3, 20)))

    def _turn_circuits(self) -> None:
        now = self._clock.now()
        for account in self._setting.accounts:
            spell = self._setting.circuits[account.vendor].at(now)
            known = self._circuits.get(account.id)
            is_open = known is not None and known.circuit.state == "OPEN"
            if (spell is not None) == is_open:
                continue
            version = known.circuit.version + 1 if known is not None else 1
            circuit = (
                Circuit(state="OPEN", version=version, since=now, until=spell.end)
                if spell is not None
                else Circuit(state="CLOSED", version=version, since=now)
            )
            self._circuits[account.id] = AccountCircuit(
                account_id=account.id, tenant_id=self._tenant_id, vendor=account.vendor, circuit=circuit
            )
        for worker in self._workers:
            worker.traffic.learn_circuits(self._circuits.values())

    # --- receipts

    async def _hear(self, heard: Sequence[Pending]) -> None:
        """As the callbacks' job does it: what is not known yet is looked for again later."""
        for _ in range(self._luck.randrange(6)):
            await asyncio.sleep(0)
        async with self._db.tenant(self._tenant_id) as tx:
            rows = await tx.connection.fetch(
                "SELECT id, execution_id, started_at, provider_message_id FROM chan.delivery_attempts "
                "WHERE provider_message_id = ANY ($1)",
                [one.message_id for one in heard],
            )
        known = {row["provider_message_id"]: row for row in rows}
        by_ladder: dict[str, list[tuple[Pending, receipts.Receipt]]] = {}
        for one in heard:
            row = known.get(one.message_id)
            if row is None:
                one.tries += 1
                if one.tries < 6:
                    one.at = self._clock.now() + timedelta(seconds=2**one.tries)
                    self._street.pending.append(one)
                continue
            if not one.event:
                one.event.append(RECEIPT.new(moment(self._clock)))
            receipt = receipts.Receipt(
                id=one.event[0],
                attempt_id=row["id"],
                execution_id=row["execution_id"],
                attempt_started_at=row["started_at"],
                status=one.status,
            )
            by_ladder.setdefault(row["execution_id"], []).append((one, receipt))
        for some in by_ladder.values():
            await self._apply(some)
            if self._luck.random() < 0.1:
                # The answer to the commit was lost: it is applied once more.
                await self._apply(some)

    async def _apply(self, some: Sequence[tuple[Pending, receipts.Receipt]]) -> None:
        unique = {receipt.id: receipt for _, receipt in some}
        notification_id = some[0][0].notification_id
        self._hearing[notification_id] += 1
        if self._hearing[notification_id] > 1:
            self._overlapped.add(notification_id)
        async with self._db.tenant(self._tenant_id, by_index=True) as tx:
            applied = await receipts_store.apply(tx, list(unique.values()), now=moment(self._clock))
        self._hearing[notification_id] -= 1
        stamp = self._stamps.next()
        for one, receipt in some:
            if receipt.id in applied.fresh and unique.pop(receipt.id, None) is not None:
                late = "" if applied.woken else ", too late"
                self._tell(one.notification_id, f"A receipt says {one.status} of {one.message_id}{late}.")
                self._receipts.setdefault(one.notification_id, []).append(
                    Receipt(attempt_id=receipt.attempt_id, status=one.status, stamp=stamp, live=applied.woken)
                )

    # --- the clock

    async def _move_on(self) -> bool:
        """To the next moment at which something is due; False where there is none."""
        async with self._db.tenant(self._tenant_id) as tx:
            rows = await tx.connection.fetch(
                "SELECT notification_id, due_at, claimed_by, cost_reserved_micros, cost_spent_micros, state "
                "FROM chan.executions_live"
            )
        self._sample(rows)
        if not rows and not self._street.pending:
            return False
        now = self._clock.now()
        if rows and now > self._begin + _BOUND + max(one.lives for one in self._people.values()):
            self._unended = f"it is under way after {now - self._begin}"
            return False
        if any(row["claimed_by"] is not None for row in rows):
            # Whoever has it in hand is dead, or does not know that it has.
            self._rescue_at = self._rescue_at or now + timedelta(seconds=5)
        moments = [row["due_at"] for row in rows if row["claimed_by"] is None]
        moments += [one.at for one in self._street.pending]
        moments += [self._rescue_at] if self._rescue_at is not None else []
        # Somewhat late, so that several things happen at once.
        late = timedelta(seconds=self._luck.choice((0.001, 0.5, 2.0)))
        await self._clock.advance(max(min(moments) - now, timedelta()) + late)
        return True

    def _sample(self, rows: Sequence[Row]) -> None:
        """What the rows hold between two moments."""
        for row in rows:
            self._writes.setdefault(row["notification_id"], []).append(
                Write(
                    stamp=self._stamps.next(),
                    reserved=row["cost_reserved_micros"],
                    spent=row["cost_spent_micros"],
                    held=sum(
                        leg.open_attempt.reserved
                        for leg in state_of(row["state"]).active_steps
                        if leg.open_attempt is not None
                    ),
                )
            )

    # --- after

    async def _seen(self) -> list[Seen]:
        policies = {policy.use_case: policy for policy in self._setting.policies}
        found: list[Seen] = []
        lived = {
            worker.name for worker in self._all_workers if not worker.fate.dead and not worker.fate.given_up
        }
        async with self._db.worker() as worker_tx:
            outcomes = await announced(worker_tx, self._tenant_id)
        for id_, hand_off in self._hand_offs.items():
            policy = policies.get(hand_off.use_case) if hand_off.channel == AUTO else None
            async with self._db.tenant(self._tenant_id) as tx:
                seen = await read(
                    tx,
                    hand_off,
                    begin=self._begin,
                    cap=policy.cost_cap_micros if policy is not None else None,
                    handed=self._street.handed.get(id_, []),
                    vendors=self._setting.vendors,
                    lived=lived,
                    outcomes=outcomes.get(id_, ()),
                )
            if id_ in self._overlapped:
                # Two transactions that do not see each other may learn the same thing.
                seen.learned = []
            seen.asks = self._asks.get(id_, [])
            seen.receipts = self._receipts.get(id_, [])
            seen.writes += self._writes.get(id_, [])
            if not seen.outcomes:
                seen.unended = self._unended or "it is under way"
            found.append(seen)
        return found

    def _tell_ends(self) -> None:
        for id_, seen in zip(self._hand_offs, self.seen, strict=True):
            for one in seen.told:
                self._tell(
                    id_, f"It was told: step {one.step} {one.status} ({one.reason}), {one.cost} spent."
                )
            for end in seen.outcomes:
                self._tell(
                    id_, f"It ended at {end.at - self._begin}: {end.result} ({end.evidence or end.reason})."
                )

    def _tell(self, notification_id: str, sentence: str) -> None:
        self.story.tell(self._clock.now(), f"{self._names.get(notification_id, '?')}: {sentence}")
