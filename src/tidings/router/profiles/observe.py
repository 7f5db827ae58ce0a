"""What a profile becomes by observations, whatever the order in which they arrive."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from tidings.router.profiles.facts import Fact, FactName, Value, latest
from tidings.router.profiles.model import ChannelScore, Observation, Profile


def observed(profile: Profile, observations: Sequence[Observation], *, now: datetime) -> Profile:
    """With these observations of the same person taken in."""
    channels, facts = dict(profile.channels), dict(profile.facts)
    for one in observations:
        # A vendor's clock that runs ahead must not make all that is older worthless.
        at = min(one.at, now)
        known = channels.get(one.channel) or ChannelScore(channel=one.channel)
        channels[one.channel] = known.after(delivered=one.delivered, at=at)
        news: dict[FactName, Fact] = {name: Fact(value, at) for name, value in one.fields.items()}
        if one.delivered:
            news["last_successful_channel"] = Fact(one.channel, at)
        if news:
            facts = latest(facts, news)
    return replace(profile, channels=channels, facts=facts)


def told(profile: Profile, values: Mapping[FactName, Value], *, at: datetime) -> Profile:
    """With these facts as they were told at that moment; what is known from later stays."""
    news = {name: Fact(value, at) for name, value in values.items()}
    return replace(profile, facts=latest(profile.facts, news))
