"""Profiles as rows of the database."""

from typing import Final

import msgspec
from msgspec import Struct

from tidings.contracts.ids import RecipientId
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.kernel.db import Row
from tidings.router.profiles.facts import Fact, FactName, SealedId, TriState, Value
from tidings.router.profiles.model import ChannelScore, Profile, ProfileId
from tidings.router.profiles.posterior import Posterior


class _Channel(Struct, frozen=True, kw_only=True):
    """One channel, as it is kept in the list."""

    channel: Channel
    a: float
    b: float
    #: Mean and confidence as of then, for readers of the table.
    score: float
    confidence: float
    observations: int
    last_observed_at: Moment | None


_encode = msgspec.json.Encoder().encode
_decode_channels = msgspec.json.Decoder(list[_Channel]).decode
_decode_times = msgspec.json.Decoder(dict[str, Moment]).decode

_NO_CHANNELS: Final = "[]"
_NO_TIMES: Final = "{}"


def channels_text(profile: Profile) -> str:
    """What is known of the channels, as JSON; in the order of their names."""
    return _encode(
        [
            _Channel(
                channel=score.channel,
                a=score.posterior.a,
                b=score.posterior.b,
                score=round(score.posterior.mean, 4),
                confidence=round(score.posterior.confidence, 4),
                observations=score.observations,
                last_observed_at=score.posterior.at,
            )
            for _, score in sorted(profile.channels.items())
        ]
    ).decode()


def times_text(profile: Profile) -> str:
    """When each fact was learned, as JSON."""
    return _encode({name: fact.at for name, fact in sorted(profile.facts.items())}).decode()


def from_row(row: Row) -> Profile:
    """A profile as the database gives it."""
    return Profile(
        id=ProfileId(row["id"]),
        recipient_id=RecipientId(row["recipient_id"]),
        channels=_channels(row["channel_preferences"]),
        facts=_facts(row),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        version=row["version"],
    )


def _channels(text: str) -> dict[Channel, ChannelScore]:
    if text == _NO_CHANNELS:
        return {}
    return {
        one.channel: ChannelScore(
            channel=one.channel,
            posterior=Posterior(one.a, one.b, one.last_observed_at),
            observations=one.observations,
        )
        for one in _decode_channels(text)
    }


def _facts(row: Row) -> dict[FactName, Fact]:
    text: str = row["field_times"]
    if text == _NO_TIMES:
        return {}
    times = _decode_times(text)
    values: dict[FactName, Value | None] = {
        "has_whatsapp_business": TriState(row["has_whatsapp_business"]),
        "voice_otp_supported": TriState(row["voice_otp_supported"]),
        "email_verified": row["email_verified"],
        "telegram_chat_id": _sealed(row["telegram_chat_id_hash"], row["telegram_chat_id_ciphertext"]),
        "viber_id": _sealed(row["viber_id_hash"], row["viber_id_ciphertext"]),
        "last_successful_channel": row["last_successful_channel"],
    }
    return {
        name: Fact(value, times[name])
        for name, value in values.items()
        if value is not None and name in times
    }


def _sealed(hash_: str | None, ciphertext: bytes | None) -> SealedId | None:
    return None if hash_ is None or ciphertext is None else SealedId(hash_, ciphertext)
