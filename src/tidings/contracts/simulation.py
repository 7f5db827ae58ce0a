"""How the router asks notify what would become of a message: the gates and the words, and nothing is written or sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from msgspec import Struct

from tidings.contracts.delivery import DeliveryRoute, PreparedStep
from tidings.contracts.enums import Category, Priority, UseCase
from tidings.contracts.ids import RecipientId
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, Locale
from tidings.kernel.db import CallerRole
from tidings.kernel.ids import TenantId


class HypotheticalMessage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What would be said to whom, as a request to send it says it; the channel is left to the ladder."""

    #: An id, or somebody as they would be made.
    recipient: str | dict[str, Any]
    #: A template's key.
    template: str
    variables: dict[str, Any] = {}
    #: The category's own where it is left out.
    use_case: UseCase | None = None
    #: The template's own where it is left out.
    category: Category | None = None
    priority: Priority | None = None
    #: The recipient's own where it is left out.
    locale: Locale | None = None
    scheduled_for: Moment | None = None
    #: By the category where it is left out.
    expires_at: Moment | None = None

    def __repr__(self) -> str:
        return f"HypotheticalMessage(template={self.template!r}, ***)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedMessage:
    """What notify would hand over, and what it would answer when its steps are asked for."""

    #: Whether it would be handed over at all: `send`, or why not.
    would: Literal["send", "defer", "stop"]
    #: Why not: a code.
    reason: str | None
    #: When it would be looked at again, where it would wait.
    until: datetime | None
    #: The moment that was decided for.
    at: datetime
    #: Nothing is sent from then on.
    expires_at: datetime
    use_case: UseCase
    priority: Priority
    #: Who would be written to.
    recipient_id: RecipientId
    #: Whether there is such a recipient already.
    recipient_known: bool
    routes: tuple[DeliveryRoute, ...] = ()
    #: What would be answered for a step over each channel, as of that moment.
    steps: Mapping[Channel, PreparedStep] = field(default_factory=dict, repr=False)
    #: Gates that were not asked, because asking uses something up.
    not_asked: tuple[str, ...] = ()


class StepSimulation(Protocol):
    """What notify offers the router for simulations."""

    async def simulate(
        self, tenant_id: TenantId, message: HypotheticalMessage, *, role: CallerRole | None = None
    ) -> SimulatedMessage:
        """What would happen; refused wherever accepting would refuse it."""
        ...
