"""Settles notifications in the transaction that records their outcomes, where notify is in this process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tidings.contracts.delivery import DeliveryOutcome, OutcomeSettler, TenantOutcome
from tidings.kernel.db import TenantsTx
from tidings.kernel.errors import DatabaseUnavailableError, TidingsError
from tidings.router.executions.model import ExecutionChange, ExecutionId


class NotSettledError(TidingsError):
    """Notifications could not be settled in the transaction that records their outcomes."""

    code = "not_settled"


@dataclass(frozen=True, slots=True)
class Settling:
    """Those outcomes of a set that are settled with its record; the others go over the bus."""

    settler: OutcomeSettler | None = None
    outcomes: Mapping[ExecutionId, DeliveryOutcome] = field(default_factory=dict)

    @classmethod
    def of(
        cls, settler: OutcomeSettler | None, outcomes: Mapping[ExecutionId, DeliveryOutcome]
    ) -> "Settling":
        """What that settler settles of them; nothing where there is none."""
        if settler is None:
            return cls()
        return cls(settler, {id_: outcome for id_, outcome in outcomes.items() if settler.settles(outcome)})

    @property
    def applied_by(self) -> dict[ExecutionId, str]:
        """The consumer group that need not apply their events."""
        return {} if self.settler is None else dict.fromkeys(self.outcomes, self.settler.group)

    async def settle(self, tx: TenantsTx, firsts: Sequence[ExecutionChange]) -> None:
        """Settle those of its outcomes that are the first of their notifications.

        A `NotSettledError` where that fails, also where a notification is locked: the record does not wait for it twice.
        """
        told = [
            TenantOutcome(
                tenant_id=change.execution.tenant_id,
                outcome=self.outcomes[change.execution.id],
                traceparent=change.execution.traceparent,
            )
            for change in firsts
            if change.execution.id in self.outcomes
        ]
        if self.settler is None or not told:
            return
        try:
            await self.settler.settle_in(tx, told)
        except DatabaseUnavailableError:
            raise
        except Exception as error:
            raise NotSettledError from error
