"""Every yes and every no, as they are kept: what a change of preferences means for the ledger. No I/O."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from tidings.contracts.ids import RecipientId
from tidings.contracts.recipients import PreferenceOptOutRecorded, PreferencesUpdated
from tidings.contracts.tenants import Channel
from tidings.kernel.mapping import by_name
from tidings.notify.ids import CONSENT_EVENT, ConsentEventId
from tidings.notify.recipients.consent import Consent
from tidings.notify.recipients.preferences_model import ChannelChoice, Choices, Preferences
from tidings.notify.refusals.model import EVERYTHING

Kind = Literal["consent_requested", "consent_granted", "consent_withdrawn", "opted_out", "opted_in"]
_ALLOWED = ChannelChoice()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentStatement:
    """One yes or no of a recipient."""

    kind: Kind
    #: None: on all channels.
    channel: Channel | None = None
    #: None: all that can be said no to; of consent, all that needs it.
    category: str | None = None
    #: When they said it; None: now.
    at: datetime | None = None
    #: How they said it; None: by whatever way the change came.
    source: str | None = None
    evidence: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentEvent:
    """A line of the ledger."""

    id: ConsentEventId
    recipient_id: RecipientId
    kind: Kind
    channel: Channel | None
    category: str | None
    occurred_at: datetime
    recorded_at: datetime
    source: str
    evidence: str | None = field(repr=False)
    actor: str
    preferences_version: int


def told_between(before: Choices, after: Choices) -> list[ConsentStatement]:
    """What was said by changing the one into the other; empty where neither a yes nor a no changed."""
    return [
        *_consent(before.marketing_consent, after.marketing_consent),
        *_everything(before, after),
        *_channels(before, after),
    ]


def lines_of(
    before: Preferences, after: Preferences, *, source: str, evidence: str | None, actor: str, now: datetime
) -> list[ConsentEvent]:
    """The lines of a change; what a statement does not say of itself is as `source` and `evidence` have it."""
    return [
        by_name(
            ConsentEvent,
            told,
            id=CONSENT_EVENT.new(now),
            recipient_id=after.recipient_id,
            occurred_at=told.at or now,
            recorded_at=now,
            source=told.source or source,
            evidence=told.evidence or evidence,
            actor=actor,
            preferences_version=after.version,
        )
        for told in told_between(before.choices, after.choices)
    ]


def payloads_of(
    saved: Sequence[Preferences], lines: Sequence[ConsentEvent]
) -> list[tuple[str, PreferencesUpdated | PreferenceOptOutRecorded]]:
    """What the events say, each with its subject: preferences were changed, and every no is told."""
    updated = [
        PreferencesUpdated(recipient_id=p.recipient_id, preferences_id=p.id or "", version=p.version)
        for p in saved
    ]
    refused = [
        by_name(PreferenceOptOutRecorded, line, consent=line.kind == "consent_withdrawn")
        for line in lines
        if line.kind in {"opted_out", "consent_withdrawn"}
    ]
    return [
        *(("preferences.updated.v1", payload) for payload in updated),
        *(("optout.recorded.v1", payload) for payload in refused),
    ]


def allowed_by(told: Sequence[ConsentStatement], *, needing_consent: Collection[str]) -> set[tuple[str, str]]:
    """The channels ('' for all) and categories that a yes allows; it withdraws refusals of addresses, a no changes none."""
    allowed: set[tuple[str, str]] = set()
    for statement in told:
        if statement.kind == "opted_in":
            allowed.add((statement.channel or "", statement.category or EVERYTHING))
        elif statement.kind == "consent_granted":
            allowed |= {("", category) for category in needing_consent}
    return allowed


def _consent(before: Consent, after: Consent) -> Iterator[ConsentStatement]:
    if after.pending_since is not None:
        if after.pending_since != before.pending_since:
            yield ConsentStatement(
                kind="consent_requested", at=after.at, source=after.source, evidence=after.evidence
            )
        return
    # Said anew in another way, or with other evidence, is worth a line too.
    if (before.granted, before.at, before.source, before.evidence) == (
        after.granted,
        after.at,
        after.source,
        after.evidence,
    ):
        return
    if not after.granted and not before.granted and before.pending_since is None:
        return
    yield ConsentStatement(
        kind="consent_granted" if after.granted else "consent_withdrawn",
        at=after.at,
        source=after.source,
        evidence=after.evidence,
    )


def _everything(before: Choices, after: Choices) -> Iterator[ConsentStatement]:
    was, is_ = before.global_unsubscribed_at, after.global_unsubscribed_at
    if was is None and is_ is not None:
        yield ConsentStatement(kind="opted_out", at=is_)
    elif was is not None and is_ is None:
        yield ConsentStatement(kind="opted_in")


def _channels(before: Choices, after: Choices) -> Iterator[ConsentStatement]:
    for channel in dict.fromkeys((*before.channels, *after.channels)):
        was, is_ = before.channels.get(channel, _ALLOWED), after.channels.get(channel, _ALLOWED)
        if was.allow != is_.allow:
            yield ConsentStatement(kind="opted_in" if is_.allow else "opted_out", channel=channel)
        for category in dict.fromkeys((*was.categories, *is_.categories)):
            allowed = is_.categories.get(category)
            if allowed is None:
                # Not named any more: it follows the channel. A no that was taken back is worth a line.
                if was.categories[category] is False and is_.allow:
                    yield ConsentStatement(kind="opted_in", channel=channel, category=category)
            elif was.categories.get(category) is not allowed and (
                not allowed or not was.categories.get(category, was.allow)
            ):
                kind: Kind = "opted_in" if allowed else "opted_out"
                yield ConsentStatement(kind=kind, channel=channel, category=category)
