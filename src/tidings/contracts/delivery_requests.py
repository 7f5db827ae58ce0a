"""What notify and the router ask each other where they run in different processes: subjects, and what passes, as MessagePack.

Requests and replies are not events: they are answered now or asked again, and no broker keeps them. A reply may hold
addresses and words; it is sealed on its way (`kernel/nats_requests`).
"""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Raw, Struct

from tidings.contracts.delivery import PreparedStep, StepAsk
from tidings.contracts.ids import NotificationId
from tidings.kernel.ids import TenantId

#: Of notify: steps, at the moment of sending.
PREPARE_STEPS: Final = "notify.prepare_steps.v1"
#: Of the router: which hand-overs it has taken.
TAKEN_HAND_OVERS: Final = "router.taken_hand_overs.v1"
#: Of the router: which executions ended, and how.
ENDED_EXECUTIONS: Final = "router.ended_executions.v1"
ENDED_OUTCOMES: Final = "router.ended_outcomes.v1"


class PrepareSteps(Struct, frozen=True, kw_only=True):
    """The router asks for steps, whatever their tenants."""

    asks: tuple[StepAsk, ...]


class EncodedSteps(Struct, frozen=True, kw_only=True):
    """What notify writes: answers that are encoded already, so that it knows how large they are."""

    steps: tuple[Raw, ...]


class StepsPrepared(Struct, frozen=True, kw_only=True):
    """What the router reads: one answer each for the first of its asks, in their order; those left over it asks for again."""

    steps: tuple[PreparedStep, ...]


class FindTaken(Struct, frozen=True, kw_only=True):
    """Notify asks which of its hand-overs were taken."""

    requests: tuple[tuple[TenantId, NotificationId], ...]


class FoundTaken(Struct, frozen=True, kw_only=True):
    """Those that were."""

    taken: tuple[tuple[TenantId, NotificationId], ...]


class FindEnded(Struct, frozen=True, kw_only=True):
    """Notify asks what ended after that moment; see `EndedExecutions.page`."""

    after: datetime
    settled_for: timedelta
    limit: int


class FindOutcomes(Struct, frozen=True, kw_only=True):
    """Notify asks how executions of some notifications of a tenant ended."""

    tenant_id: TenantId
    ids: tuple[NotificationId, ...]
