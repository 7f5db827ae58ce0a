"""Answers that a worker had read and could not record any more: taken from its journal before its attempts are repeated."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Final, TypeAlias

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.enums import UseCase
from tidings.contracts.messages import Accepted
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseError, TidingsError
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger
from tidings.router.executions.answer_journal import ADDRESS_PURPOSE, AnswerJournal, JournalEntry
from tidings.router.executions.model import ClaimedExecution, ExecutionId, ExecutionObserver
from tidings.router.executions.sent_message import SentMessage
from tidings.router.policies.model import DEFAULT_SESSION_TTL_SECONDS, Policy
from tidings.router.policies.policies import Policies
from tidings.router.state_machine.model import ActiveStep, OpenAttempt, VendorAnswered
from tidings.router.status_map.meanings import Meanings, read_by

#: An execution with a step and its attempt that is open.
_Opened: TypeAlias = tuple[ClaimedExecution, ActiveStep, OpenAttempt]

_log = get_logger("executions")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredAnswers:
    """What vendors had answered to open attempts of an execution."""

    events: tuple[VendorAnswered, ...] = ()
    #: Of those that were accepted, the messages that can be answered.
    answerable: tuple[SentMessage, ...] = ()


NOTHING_RECOVERED: Final = RecoveredAnswers()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnswerRecovery:
    """Looks for answers to attempts that are open although no worker has them in hand."""

    db: Database
    journal: AnswerJournal
    _: KW_ONLY
    meanings: Meanings
    policies: Policies
    keyring: Keyring
    observer: ExecutionObserver

    async def recover(self, executions: Sequence[ClaimedExecution]) -> Mapping[ExecutionId, RecoveredAnswers]:
        """By execution, what is in the journals of this host; executions without an open attempt cost nothing.

        To be told twice is no harm: an answer is applied only to the attempt that is open, under the version check.
        """
        opened: dict[TenantId, list[_Opened]] = {}
        for execution in executions:
            for active in execution.state.active_steps:
                if active.open_attempt is not None:
                    of_tenant = opened.setdefault(execution.tenant_id, [])
                    of_tenant.append((execution, active, active.open_attempt))
        recovered: dict[ExecutionId, RecoveredAnswers] = {}
        wanted = {(tenant_id, attempt.id) for tenant_id, some in opened.items() for _, _, attempt in some}
        by_tenant: dict[TenantId, dict[str, JournalEntry]] = {}
        for (tenant_id, attempt_id), entry in (await self.journal.find(wanted)).items():
            by_tenant.setdefault(tenant_id, {})[attempt_id] = entry
        for tenant_id, found in by_tenant.items():
            recovered |= await self._of_tenant(tenant_id, opened[tenant_id], found)
        return recovered

    async def _of_tenant(
        self, tenant_id: TenantId, opened: Sequence[_Opened], found: Mapping[str, JournalEntry]
    ) -> dict[ExecutionId, RecoveredAnswers]:
        known = await self.meanings.known(tenant_id)
        to = await self._addresses(tenant_id, [one for one in opened if one[2].id in found], found)
        policies = await self._policies(tenant_id) if to else {}
        recovered: dict[ExecutionId, RecoveredAnswers] = {}
        for execution, active, attempt in opened:
            entry = found.get(attempt.id)
            if entry is None:
                continue
            event = VendorAnswered(
                step=active.step,
                outcome=read_by(known, attempt.vendor, entry.answer()),
                receipts=entry.receipts,
                idempotent=entry.idempotent,
                attempt_id=attempt.id,
                account=attempt.account,
                others=entry.others,
            )
            before = recovered.get(execution.id, NOTHING_RECOVERED)
            policy = policies.get(execution.state.use_case)
            turns = _turns(execution, attempt, event, to.get(attempt.id), policy)
            recovered[execution.id] = RecoveredAnswers(
                events=(*before.events, event), answerable=(*before.answerable, *turns)
            )
        self.observer.recovered(len(found))
        _log.warning("answers_recovered", tenant_id=tenant_id, count=len(found), open=len(opened))
        return recovered

    async def _addresses(
        self,
        tenant_id: TenantId,
        opened: Sequence[_Opened],
        found: Mapping[str, JournalEntry],
    ) -> dict[str, NormalisedAddress]:
        """By attempt, where a message went that can be answered; without those of people who were erased since."""
        boxes = {
            attempt.id: (execution.recipient_id, box)
            for execution, _, attempt in opened
            if (box := found[attempt.id].to) is not None
        }
        if not boxes:
            return {}
        keys: Mapping[str, DataKey] = {}
        with suppress(TidingsError):
            async with self.db.tenant(tenant_id, by_index=True) as tx:
                keys = await self.keyring.data_keys(
                    tx, {person for person, _ in boxes.values()}, create=False
                )
        to: dict[str, NormalisedAddress] = {}
        for attempt_id, (person, box) in boxes.items():
            with suppress(TidingsError):
                if person in keys:
                    to[attempt_id] = NormalisedAddress(keys[person].unseal(box, ADDRESS_PURPOSE).decode())
        return to

    async def _policies(self, tenant_id: TenantId) -> Mapping[UseCase, Policy]:
        """Where they can't be asked for, conversations have their usual length."""
        with suppress(DatabaseError):
            return await self.policies.of(tenant_id)
        return {}


def _turns(
    execution: ClaimedExecution,
    attempt: OpenAttempt,
    event: VendorAnswered,
    to: NormalisedAddress | None,
    policy: Policy | None,
) -> tuple[SentMessage, ...]:
    if to is None or not isinstance(event.outcome, Accepted) or event.outcome.sender is None:
        return ()
    turn = SentMessage(
        channel=execution.state.steps[event.step - 1].channel,
        sender_id=event.outcome.sender,
        to=to,
        recipient_id=execution.recipient_id,
        notification_id=execution.notification_id,
        account_id=attempt.account,
        vendor=attempt.vendor,
        use_case=execution.state.use_case,
        ttl_seconds=policy.session_ttl_seconds if policy else DEFAULT_SESSION_TTL_SECONDS,
        at=time_of(attempt.id),
    )
    return (turn,)
