"""Facts made by hand, for tests of deciding."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import structs

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import RECIPIENT, RECIPIENT_ADDRESS, RecipientId
from tidings.contracts.tenants import Channel, NotificationPolicy, QuietHours
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.channels.model import ChannelConfig, RateLimit, Sender
from tidings.notify.decide.model import DecisionRequest, StepRequest
from tidings.notify.facts.model import AddressFacts, Facts, PersonFacts, TenantFacts
from tidings.notify.ids import CHANNEL, SUPPRESSION
from tidings.notify.recipients.preferences_model import Choices
from tidings.notify.suppressions.model import SuppressionMatch, SuppressionReason
from tidings.notify.tenants.model import TenantStatus

#: A Sunday, by day in Kabul.
NOON = datetime(2026, 11, 15, 7, 30, tzinfo=UTC)
#: The same Sunday, by night.
NIGHT = datetime(2026, 11, 15, 18, 30, tzinfo=UTC)
MORNING = datetime(2026, 11, 16, 2, 30, tzinfo=UTC)
LAILA: RecipientId = RECIPIENT.new(NOON)
MOTHER: RecipientId = RECIPIENT.new(NOON)
EVERY_NIGHT = QuietHours(days=("mon", "tue", "wed", "thu", "fri", "sat", "sun"), start="22:00", end="07:00")


def category(name: str, **policy: bool) -> CategoryPolicy:
    return CategoryPolicy(
        category=name,
        default_use_case="txn",
        retention_class="standard",
        default_priority="normal",
        default_expiry_seconds=86_400,
        needs_consent=policy.get("needs_consent", False),
        can_unsubscribe=policy.get("can_unsubscribe", False),
        breaks_quiet_hours=policy.get("breaks_quiet_hours", False),
        may_digest=True,
        tracking_allowed=True,
        version=1,
    )


CATEGORIES = {
    "transactional": category("transactional"),
    "security": category("security", breaks_quiet_hours=True),
    "marketing": category("marketing", needs_consent=True, can_unsubscribe=True),
    "social": category("social", can_unsubscribe=True),
}


def address(channel: Channel = "email", **facts: Any) -> AddressFacts:
    return structs.replace(
        AddressFacts(
            id=RECIPIENT_ADDRESS.new(NOON),
            channel=channel,
            value=NormalisedAddress("laila@example.test"),
            is_primary=True,
            held=None,
        ),
        **facts,
    )


def held(by: Any) -> SuppressionMatch:
    return SuppressionMatch(by=by, suppression_id=SUPPRESSION.new(NOON), reason=SuppressionReason.MANUAL)


def person(recipient_id: RecipientId = LAILA, choices: Choices | None = None, **facts: Any) -> PersonFacts:
    return structs.replace(
        PersonFacts(
            id=recipient_id,
            erased=False,
            locale="fa-AF",
            timezone="Asia/Kabul",
            choices=choices or Choices(),
            preferences_version=3,
            display_name_ciphertext=None,
            addresses={"email": (address(),)},
            key=None,
        ),
        **facts,
    )


def channel_config(channel: Channel = "email", **facts: Any) -> ChannelConfig:
    return replace(
        ChannelConfig(
            id=CHANNEL.new(NOON),
            channel=channel,
            vendor="smtp",
            fallback_vendor=None,
            sender=Sender(from_address="hello@acme.test", sender_id="ACME"),
            branding=None,
            rate_limit=RateLimit(),
            status="active",
            version=1,
            updated_at=NOON,
        ),
        **facts,
    )


def facts(
    *people: PersonFacts,
    status: TenantStatus = TenantStatus.ACTIVE,
    policy: NotificationPolicy | None = None,
    channels: tuple[ChannelConfig, ...] | None = None,
    shared: Mapping[str, str | None] | None = None,
) -> Facts:
    configured = channels if channels is not None else (channel_config(),)
    return Facts(
        tenant=TenantFacts(
            name="Acme",
            status=status,
            locale="en-US",
            timezone="UTC",
            policy=policy or NotificationPolicy(),
            version=1,
            channels={config.channel: config for config in configured},
            shared=shared or {},
        ),
        categories=CATEGORIES,
        people={someone.id: someone for someone in people or (person(),)},
    )


def request(**wanted: Any) -> DecisionRequest:
    return structs.replace(
        DecisionRequest(
            recipient_id=LAILA,
            category="transactional",
            channel="email",
            priority="normal",
            expires_at=NOON + timedelta(days=3),
        ),
        **wanted,
    )


def step(**wanted: Any) -> StepRequest:
    return structs.replace(
        StepRequest(
            recipient_id=LAILA,
            category="transactional",
            channel="email",
            priority="normal",
            expires_at=NOON + timedelta(days=3),
            status=NotificationStatus.DISPATCHED,
        ),
        **wanted,
    )
