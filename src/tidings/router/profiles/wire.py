"""Profiles as JSON: what requests bring and answers show. Ids of messengers and hashes of numbers are never shown."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.ids import RecipientId
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.router.profiles.facts import FactName, TriState, Value
from tidings.router.profiles.model import Discovery, Profile


class ListProfiles(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which profiles are wanted."""

    discovery_state: Annotated[Discovery | None, Meta(description="Only those who are known so well.")] = None


class PatchProfile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known for certain; fields left out stay. `UNKNOWN` takes back what was known."""

    has_whatsapp_business: TriState | UnsetType = UNSET
    voice_otp_supported: TriState | UnsetType = UNSET
    email_verified: bool | UnsetType = UNSET
    #: When that was so; what is known from later stays. Left out: now.
    observed_at: Moment | UnsetType = UNSET

    def told(self, now: datetime) -> tuple[dict[FactName, Value], datetime | None]:
        """The facts and their moment, checked; an `InvalidError` that names what is wrong."""
        named: dict[FactName, Value | UnsetType] = {
            "has_whatsapp_business": self.has_whatsapp_business,
            "voice_otp_supported": self.voice_otp_supported,
            "email_verified": self.email_verified,
        }
        facts = {name: value for name, value in named.items() if not isinstance(value, UnsetType)}
        at = None if isinstance(self.observed_at, UnsetType) else self.observed_at
        wrong: list[FieldError] = []
        if not facts:
            wrong.append(FieldError("", f"must name at least one of {', '.join(named)}"))
        if at is not None and at > now:
            wrong.append(FieldError("observed_at", "must not lie in the future; leave it out for now"))
        if wrong:
            raise InvalidError(wrong)
        return facts, at


class ChannelScoreView(Struct, frozen=True, kw_only=True):
    """How well one channel reaches them, as of now."""

    channel: Channel
    #: How likely a message arrives.
    score: float
    #: How much that is to be believed: 0 for nothing seen, towards 1 for much.
    confidence: float
    #: How often it was observed, however long ago.
    observations: int
    discovery_state: Discovery
    last_observed_at: Moment | None


class ProfileView(Struct, frozen=True, kw_only=True):
    """What the router knows about reaching somebody."""

    #: Null where nothing is kept yet.
    id: str | None
    recipient_id: str
    discovery_state: Discovery
    #: The most likely first.
    channels: list[ChannelScoreView]
    has_whatsapp_business: TriState
    voice_otp_supported: TriState
    email_verified: bool
    #: Whether their id there is known; the id itself is not shown.
    telegram_known: bool
    viber_known: bool
    last_successful_channel: Channel | None
    last_observed_at: Moment | None
    #: When each fact was learned.
    learned_at: dict[str, Moment]
    #: 0 where nothing is kept yet.
    version: int
    updated_at: Moment | None

    @classmethod
    def of(cls, profile: Profile, now: datetime) -> "ProfileView":
        """The profile as it is shown."""
        return by_name(
            cls,
            profile,
            discovery_state=profile.discovery,
            channels=_channels(profile, now),
            telegram_known=profile.telegram_chat_id is not None,
            viber_known=profile.viber_id is not None,
            learned_at={name: fact.at for name, fact in sorted(profile.facts.items())},
        )

    @classmethod
    def unseen(cls, recipient_id: RecipientId) -> "ProfileView":
        """Of somebody of whom nothing is kept."""
        return cls(
            id=None,
            recipient_id=recipient_id,
            discovery_state=Discovery.UNSEEN,
            channels=[],
            has_whatsapp_business=TriState.UNKNOWN,
            voice_otp_supported=TriState.UNKNOWN,
            email_verified=False,
            telegram_known=False,
            viber_known=False,
            last_successful_channel=None,
            last_observed_at=None,
            learned_at={},
            version=0,
            updated_at=None,
        )


def _channels(profile: Profile, now: datetime) -> list[ChannelScoreView]:
    shown = [
        ChannelScoreView(
            channel=score.channel,
            score=round((as_of := score.posterior.decayed(now)).mean, 4),
            confidence=round(as_of.confidence, 4),
            observations=score.observations,
            discovery_state=score.discovery,
            last_observed_at=score.posterior.at,
        )
        for score in profile.channels.values()
    ]
    return sorted(shown, key=lambda one: (-one.score, one.channel))
