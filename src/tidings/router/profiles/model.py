"""What the router knows about reaching a recipient: how well each channel does, and a few facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, NewType, cast

from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import IdKind
from tidings.router.profiles.facts import Fact, FactName, SealedId, TriState, Value
from tidings.router.profiles.posterior import NOTHING_SEEN, Posterior

__all__ = [
    "PROFILE",
    "STABLE_FROM",
    "ChannelScore",
    "Discovery",
    "Observation",
    "Profile",
    "ProfileId",
    "SealedId",
    "TriState",
    "discovery_of",
]

ProfileId = NewType("ProfileId", str)
PROFILE: Final = IdKind("profile", ProfileId)

#: With so many observations the guess is good enough to stop trying others.
STABLE_FROM: Final = 5


class Discovery(StrEnum):
    """How well somebody is known."""

    #: Nothing was observed yet.
    UNSEEN = "UNSEEN"
    LEARNING = "LEARNING"
    STABLE = "STABLE"


def discovery_of(observations: int) -> Discovery:
    """How well a recipient is known after so many observations."""
    if observations == 0:
        return Discovery.UNSEEN
    return Discovery.STABLE if observations >= STABLE_FROM else Discovery.LEARNING


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one step of a ladder taught about a person. A vendor's own fault teaches nothing: leave it out."""

    recipient_id: RecipientId
    channel: Channel
    #: Whether the message arrived.
    delivered: bool
    #: When that was known; a moment in the future counts as now.
    at: datetime
    #: What it says besides, such as `{"has_whatsapp_business": TriState.KNOWN_NO}`.
    fields: Mapping[FactName, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelScore:
    """How well one channel reaches a recipient."""

    channel: Channel
    posterior: Posterior = NOTHING_SEEN
    #: How often it was observed, however long ago.
    observations: int = 0

    @property
    def discovery(self) -> Discovery:
        """How well this channel is known."""
        return discovery_of(self.observations)

    def after(self, *, delivered: bool, at: datetime) -> "ChannelScore":
        """With one more observation."""
        return ChannelScore(
            channel=self.channel,
            posterior=self.posterior.update(delivered=delivered, at=at),
            observations=self.observations + 1,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is known about reaching one recipient."""

    id: ProfileId
    recipient_id: RecipientId
    #: Those that were observed.
    channels: Mapping[Channel, ChannelScore] = field(default_factory=dict)
    #: Those that are known.
    facts: Mapping[FactName, Fact] = field(default_factory=dict)
    created_at: datetime
    updated_at: datetime
    #: Grows with every change.
    version: int = 1

    @property
    def observations(self) -> int:
        """How often anything was observed."""
        return sum(score.observations for score in self.channels.values())

    @property
    def discovery(self) -> Discovery:
        """How well they are known."""
        return discovery_of(self.observations)

    @property
    def last_observed_at(self) -> datetime | None:
        """When the newest observation was made."""
        return max(
            (score.posterior.at for score in self.channels.values() if score.posterior.at), default=None
        )

    @property
    def has_whatsapp_business(self) -> TriState:
        """Whether WhatsApp reaches them at all."""
        return self._tri_state("has_whatsapp_business")

    @property
    def voice_otp_supported(self) -> TriState:
        """Whether a code can be read out to them."""
        return self._tri_state("voice_otp_supported")

    @property
    def email_verified(self) -> bool:
        """Whether they proved that the mailbox is theirs."""
        return self._value("email_verified") is True

    @property
    def last_successful_channel(self) -> Channel | None:
        """Where the newest message arrived."""
        return cast("Channel | None", self._value("last_successful_channel"))

    @property
    def telegram_chat_id(self) -> SealedId | None:
        """Under their data key."""
        return self._sealed("telegram_chat_id")

    @property
    def viber_id(self) -> SealedId | None:
        """Under their data key."""
        return self._sealed("viber_id")

    def posterior(self, channel: Channel, now: datetime | None = None) -> Posterior:
        """What is believed of a channel, as of that moment; left out: as of the profile's newest observation."""
        score = self.channels.get(channel)
        if score is None:
            return NOTHING_SEEN
        as_of = now or self.last_observed_at
        return score.posterior if as_of is None else score.posterior.decayed(as_of)

    def score(self, channel: Channel, now: datetime | None = None) -> float:
        """How likely a message arrives there; ½ where nothing is known."""
        return self.posterior(channel, now).mean

    def reachable(self, channel: Channel) -> TriState:
        """Whether they can be reached there at all, by what is known for certain."""
        match channel:
            case "whatsapp":
                return self.has_whatsapp_business
            case "voice":
                return self.voice_otp_supported
            case "email":
                known = self.email_verified
            case "telegram":
                known = self.telegram_chat_id is not None
            case "viber":
                known = self.viber_id is not None
            case _:
                known = False
        return TriState.KNOWN_YES if known else TriState.UNKNOWN

    def _value(self, name: FactName) -> Value | None:
        fact = self.facts.get(name)
        return None if fact is None else fact.value

    def _tri_state(self, name: FactName) -> TriState:
        found = self._value(name)
        return found if isinstance(found, TriState) else TriState.UNKNOWN

    def _sealed(self, name: FactName) -> SealedId | None:
        found = self._value(name)
        return found if isinstance(found, SealedId) else None
