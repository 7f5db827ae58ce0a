"""The use case "these attempts are reserved": hand whole sets to vendors, let the state machine decide by their answers."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field
from dataclasses import replace as with_field
from datetime import datetime
from functools import partial
from typing import TypeAlias

from opentelemetry.trace import SpanKind

from tidings.contracts.delivery import Answered
from tidings.contracts.enums import UseCase
from tidings.contracts.messages import OutboundMessage, Outcome
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.retry_policy import RandomUnit
from tidings.kernel.errors import DatabaseError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.tracing import span_of_set
from tidings.router.accounts.model import StoredAccount
from tidings.router.executions.answer_journal import AnswerJournal, others_told
from tidings.router.executions.answerable import can_be_answered, turns_of
from tidings.router.executions.answers import AnswerObject
from tidings.router.executions.call_off import call_off
from tidings.router.executions.commit import TransitionCommitter
from tidings.router.executions.model import (
    ExecutionChange,
    ExecutionObserver,
    OutgoingExecution,
    ReservedAttempt,
)
from tidings.router.policies.model import Policy
from tidings.router.policies.policies import Policies
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import CallSkipped, VendorAnswered
from tidings.router.state_machine.statuses import told_as
from tidings.router.status_map.meanings import Meanings, codes_of, read_by
from tidings.router.traffic.vendor_selection import VendorSelection
from tidings.router.vendors.built_in import WITHOUT_ACCOUNT
from tidings.router.vendors.vendors import SendResult, Vendors

#: The accounts of each tenant, by vendor.
AccountsByTenant: TypeAlias = Mapping[TenantId, Mapping[str, StoredAccount]]


@dataclass(frozen=True, slots=True)
class _AccountCalls:
    """What goes through one account in one call."""

    #: The account's owner; of the platform's, one of those who use it.
    tenant_id: TenantId
    vendor: str
    #: Seconds that each may take.
    within: float | None
    #: None where there is none, or none is known.
    account: StoredAccount | None
    calls: list[tuple[OutgoingExecution, ReservedAttempt]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VendorCaller:
    """Calls vendors for outgoing executions with stored attempts; no transaction is open meanwhile."""

    # Without `blobs` what vendors answer is not kept word for word; `keyring` opens the keys of messages from another process.
    # Without a `journal` answers that were read and not recorded die with the process.
    db: Database
    vendors: Vendors
    committer: TransitionCommitter
    _: KW_ONLY
    machine: ExecutionStateMachine
    jitter: RandomUnit
    traffic: VendorSelection
    meanings: Meanings
    policies: Policies
    clock: Clock
    observer: ExecutionObserver
    blobs: Callable[[], BlobStore] | None = None
    keyring: Keyring | None = None
    journal: AnswerJournal | None = None

    async def call(
        self, worker: str, outgoing: Sequence[OutgoingExecution], *, answered: Answered | None = None
    ) -> None:
        """Each account gets its set at once, whatever the tenants; a slow item keeps no other waiting, but for steps of
        the same execution."""
        accounts: AccountsByTenant = {}
        # Where they can't be looked up now, each tenant's set says so for itself.
        with suppress(DatabaseError):
            accounts = await self.vendors.accounts.of_all({item.execution.tenant_id for item in outgoing})
        async with self._keeping() as kept:
            await self._call_all(worker, outgoing, accounts, kept, answered)

    async def _call_all(
        self,
        worker: str,
        outgoing: Sequence[OutgoingExecution],
        accounts: AccountsByTenant,
        kept: AnswerObject,
        answered: Answered | None,
    ) -> None:
        singles = [(item, item.attempts[0]) for item in outgoing if len(item.attempts) == 1]
        several = [item for item in outgoing if len(item.attempts) > 1]
        sets = [
            self._told(answered, [item for item, _ in some.calls], self._call_singles(worker, some, kept))
            for some in _by_account(singles, accounts)
        ]
        if several:
            of_tenants = [
                [item for item in several if item.execution.tenant_id == id_]
                for id_ in sorted({item.execution.tenant_id for item in several})
            ]
            sets += [
                self._told(answered, some, self._call_several(worker, some, accounts, kept))
                for some in of_tenants
            ]
        if len(sets) == 1:
            await sets[0]
            return
        # Whatever becomes of a set, the others end before these executions count as claimed by no worker.
        for ended in await asyncio.gather(*sets, return_exceptions=True):
            if isinstance(ended, BaseException):
                raise ended

    async def _told(
        self, answered: Answered | None, items: Sequence[OutgoingExecution], calls: Awaitable[None]
    ) -> None:
        """What has its answers is not waited for by whoever counts what is on its way."""
        try:
            await calls
        finally:
            if answered is not None:
                for tenant_id, count in Counter(item.execution.tenant_id for item in items).items():
                    answered(tenant_id, count)

    async def _call_singles(self, worker: str, calls: _AccountCalls, kept: AnswerObject) -> None:
        answers = await self._send(calls, kept)
        await self._record(worker, [item for item, _ in calls.calls], [[answer] for answer in answers])

    async def _call_several(
        self,
        worker: str,
        outgoing: Sequence[OutgoingExecution],
        accounts: AccountsByTenant,
        kept: AnswerObject,
    ) -> None:
        """Steps of one execution, side by side: what became of them is written together. All are of one tenant."""
        answers: list[list[VendorAnswered | CallSkipped]] = [[] for _ in outgoing]
        places = {item.execution.id: place for place, item in enumerate(outgoing)}

        async def send(some: _AccountCalls) -> None:
            for (item, _), answer in zip(some.calls, await self._send(some, kept), strict=True):
                answers[places[item.execution.id]].append(answer)

        calls = [(item, call) for item in outgoing for call in item.attempts]
        await asyncio.gather(*map(send, _by_account(calls, accounts)))
        await self._record(worker, outgoing, answers)

    @asynccontextmanager
    async def _keeping(self) -> AsyncIterator[AnswerObject]:
        """Stores what vendors answered when all of them have: no record waits for it."""
        kept = AnswerObject()
        try:
            yield kept
        finally:
            if self.blobs is not None and not await kept.store(self.blobs()):
                self.observer.failed("answers")

    async def _send(self, some: _AccountCalls, kept: AnswerObject) -> list[VendorAnswered | CallSkipped]:
        """An answer for each; all of them go through the same account."""
        now, calls = self.clock.now(), some.calls
        answers: list[VendorAnswered | CallSkipped] = [
            CallSkipped(step=call.step, attempt_id=call.attempt_id) for _, call in calls
        ]
        going = [place for place, (item, _) in enumerate(calls) if now < item.execution.state.expires_at]
        if not going:
            return answers
        vendor, within = some.vendor, some.within
        messages = [_message(calls[place][1]) for place in going]
        journal, listen = self.journal, None
        if journal is not None:
            await journal.get_ready()
            listen = partial(journal.listener, [calls[place] for place in going])
        started = self.clock.monotonic()
        with span_of_set(
            "vendors",
            "vendor send",
            (calls[place][0].execution.traceparent for place in going),
            kind=SpanKind.CLIENT,
            tenant_ids=sorted({calls[place][0].execution.tenant_id for place in going}),
            vendor=vendor,
            attempt_ids=[calls[place][1].attempt_id for place in going],
        ):
            sent = (
                await self.vendors.send(some.tenant_id, vendor, messages, within=within, listen=listen)
                if some.account is None
                else await self.vendors.send_through(
                    some.account, some.tenant_id, vendor, messages, within=within, listen=listen
                )
            )
        took = self.clock.monotonic() - started
        made = [calls[place] for place in going]
        outcomes = await self._meant([item.execution.tenant_id for item, _ in made], sent)
        refs = await self._kept(made, outcomes, kept)
        for place, outcome in zip(going, outcomes, strict=True):
            call = calls[place][1]
            answers[place] = VendorAnswered(
                step=call.step,
                outcome=outcome,
                receipts=sent.receipts,
                idempotent=sent.idempotent,
                attempt_id=call.attempt_id,
                account=sent.account_id,
                others=others_told(call.message, outcome),
                answer_ref=refs.get(call.attempt_id),
            )
        if sent.account_id is not None:
            self.traffic.observe_set(
                sent.account_id,
                list(zip((message.to for message in messages), outcomes, strict=True)),
                seconds=took,
                tried_since=[_tried_since(calls[place][0], sent.account_id) for place in going],
            )
        for status, count in Counter(told_as(outcome)[0] for outcome in outcomes).items():
            self.observer.called(sent.vendor, status, count, took)
        return answers

    async def _kept(
        self,
        calls: Sequence[tuple[OutgoingExecution, ReservedAttempt]],
        outcomes: Sequence[Outcome],
        kept: AnswerObject,
    ) -> Mapping[str, str]:
        """Have the vendor's answers kept; by attempt, where each will be."""
        if self.blobs is None:
            return {}
        keys: dict[tuple[TenantId, str], DataKey | None] = {
            (item.execution.tenant_id, item.execution.recipient_id): attempt.message.key
            for item, attempt in calls
        }
        if None in keys.values() and any(one.answer for one in outcomes):
            keys |= await self._opened([person for person, key in keys.items() if key is None])
        return kept.add(
            [
                (attempt.attempt_id, keys[item.execution.tenant_id, item.execution.recipient_id], outcome)
                for (item, attempt), outcome in zip(calls, outcomes, strict=True)
            ]
        )

    async def _opened(
        self, people: Sequence[tuple[TenantId, str]]
    ) -> dict[tuple[TenantId, str], DataKey | None]:
        """The keys of messages that came from another process: a key never crosses a border, so it is opened here.

        Where that fails, the vendor's words are not kept; what became of the message is.
        """
        keys: dict[tuple[TenantId, str], DataKey | None] = {}
        if self.keyring is None:
            return keys
        for tenant_id in sorted({tenant_id for tenant_id, _ in people}):
            ids = [recipient_id for owner, recipient_id in people if owner == tenant_id]
            with suppress(TidingsError):
                async with self.db.tenant(tenant_id, by_index=True) as tx:
                    opened = await self.keyring.data_keys(tx, ids, create=False)
                keys |= {(tenant_id, recipient_id): key for recipient_id, key in opened.items()}
        return keys

    async def _meant(self, tenant_ids: Sequence[TenantId], sent: SendResult) -> Sequence[Outcome]:
        """The answers as the status map of each one's tenant reads their codes."""
        told = {id_ for id_, outcome in zip(tenant_ids, sent.outcomes, strict=True) if codes_of(outcome)}
        if not told:
            return sent.outcomes
        known = {id_: await self.meanings.known(id_) for id_ in sorted(told)}
        return [
            read_by(known[id_], sent.vendor, outcome) if id_ in known else outcome
            for id_, outcome in zip(tenant_ids, sent.outcomes, strict=True)
        ]

    async def _record(
        self,
        worker: str,
        outgoing: Sequence[OutgoingExecution],
        answers: Sequence[Sequence[VendorAnswered | CallSkipped]],
    ) -> None:
        """The state machine decides what follows from the answers; the transitions are committed."""
        policies: Mapping[TenantId, Mapping[UseCase, Policy]] = {}
        answerable = {
            item.execution.tenant_id
            for item, answered in zip(outgoing, answers, strict=True)
            if any(map(can_be_answered, answered))
        }
        if answerable:
            # Who can't be asked just now leaves conversations their usual length: what was learned has to be written.
            with suppress(DatabaseError):
                policies = await self.policies.of_all(answerable)
        now = self.clock.now()
        changes = [
            ExecutionChange(
                execution=item.execution,
                transition=self.machine.transition(
                    item.execution.state, answered, now=now, jitter=self.jitter()
                ),
                events=tuple(answered),
                currency=_currency(item),
                answerable=turns_of(item, answered, policies.get(item.execution.tenant_id, {})),
            )
            for item, answered in zip(outgoing, answers, strict=True)
        ]
        written = await self.committer.commit(worker, changes)
        if self.journal is not None:
            self.journal.recorded(
                call.attempt_id for item in outgoing if item.execution.id in written for call in item.attempts
            )
        await self.call_off(written.values())

    async def call_off(self, changes: Iterable[ExecutionChange]) -> None:
        """Have vendors cancel messages that are not needed any more, where they can."""
        needless = [
            (change.execution.claim, attempt) for change in changes for attempt in change.transition.needless
        ]
        if needless:
            await call_off(self.db, self.vendors, needless, clock=self.clock)


def _tried_since(item: OutgoingExecution, account_id: str) -> datetime | None:
    """When this message was first handed to the account; None: it was not yet."""
    return next(
        (attempt.started_at for attempt in item.execution.state.attempts if attempt.account == account_id),
        None,
    )


def _message(call: ReservedAttempt) -> OutboundMessage:
    """What the vendor is given; a mail knows which attempt it is, because its return path names it."""
    return (
        with_field(call.message, attempt_id=call.attempt_id)
        if call.message.channel == "email"
        else call.message
    )


def _by_account(
    calls: Sequence[tuple[OutgoingExecution, ReservedAttempt]], accounts: AccountsByTenant
) -> list[_AccountCalls]:
    """One set for each account: those of the platform serve several tenants, all others belong to one."""
    sets: dict[tuple[str, str, float | None], _AccountCalls] = {}
    for item, call in calls:
        tenant_id, reserved = item.execution.tenant_id, call.reservation
        account = accounts.get(tenant_id, {}).get(reserved.vendor)
        owner = tenant_id if account is None or not account.platform else account.id
        if reserved.vendor in WITHOUT_ACCOUNT:
            owner = reserved.vendor
        key = owner, reserved.vendor, reserved.within
        if key not in sets:
            sets[key] = _AccountCalls(tenant_id, reserved.vendor, reserved.within, account)
        sets[key].calls.append((item, call))
    return list(sets.values())


def _currency(item: OutgoingExecution) -> str | None:
    return next((held for call in item.attempts if (held := call.reservation.currency) is not None), None)
