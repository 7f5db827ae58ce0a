"""What a spec changes about a recipient: state in, changes out, no I/O but sealing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from msgspec import UNSET, UnsetType

from tidings.contracts.ids import RECIPIENT_ADDRESS, RecipientId
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DataKey
from tidings.notify.recipients.addresses import AddressChange, NewAddress
from tidings.notify.recipients.model import NAME_PURPOSE, address_purpose
from tidings.notify.recipients.recipient_input import AddressSpec, RecipientSpec
from tidings.notify.recipients.store import MatchedRecipient, RecipientFacts, facts_of

_MAIL: Final = "email"


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedAddress:
    """An address spec together with the hash that it is found by."""

    spec: AddressSpec
    address_hash: str

    @property
    def key(self) -> tuple[str, str]:
        """How it is found among a recipient's addresses."""
        return self.spec.channel, self.address_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is to be written for one recipient."""

    facts: RecipientFacts
    #: Channels whose mark is handed over.
    cleared: tuple[tuple[RecipientId, str], ...]
    changed: tuple[AddressChange, ...]
    added: tuple[NewAddress, ...]


def merge(first: RecipientSpec, second: RecipientSpec) -> RecipientSpec:
    """Two specs for one recipient in one set: the later wins, field by field; addresses add up."""
    named = {
        name: value
        for name in ("display_name", "locale", "timezone", "tags", "attributes")
        if (value := getattr(second, name)) is not UNSET
    }
    addresses = {(a.channel, a.address): a for a in first.addresses}
    if any(a.primary for a in second.addresses):
        moved = {a.channel for a in second.addresses if a.primary}
        addresses = {k: replace(a, primary=None) if a.channel in moved else a for k, a in addresses.items()}
    addresses |= {(a.channel, a.address): a for a in second.addresses}
    return replace(first, **named, addresses=tuple(addresses.values()))


def facts_of_new(recipient_id: RecipientId, spec: RecipientSpec, key: DataKey) -> RecipientFacts:
    """The row of a new recipient."""
    return RecipientFacts(
        id=recipient_id,
        identity=spec.identity,
        display_name_ciphertext=_seal_name(spec.display_name, key),
        locale=None if isinstance(spec.locale, UnsetType) else spec.locale,
        timezone=None if isinstance(spec.timezone, UnsetType) else spec.timezone,
        tags=() if isinstance(spec.tags, UnsetType) else spec.tags,
        attributes={} if isinstance(spec.attributes, UnsetType) else spec.attributes,
    )


def addresses_of_new(
    recipient_id: RecipientId, addresses: Sequence[HashedAddress], key: DataKey, *, now: datetime
) -> list[NewAddress]:
    """The addresses of a new recipient; one of each channel is primary."""
    chosen = {a.spec.channel: a.key for a in reversed(addresses)}
    chosen |= {a.spec.channel: a.key for a in addresses if a.spec.primary}
    return [
        _new_address(recipient_id, a, key, is_primary=chosen[a.spec.channel] == a.key, now=now)
        for a in addresses
    ]


def changes_of(
    known: MatchedRecipient,
    spec: RecipientSpec,
    addresses: Sequence[HashedAddress],
    key: DataKey,
    *,
    now: datetime,
) -> Changes | None:
    """What the spec changes about a known recipient; None where it is so already."""
    facts = _facts_after(known, spec, key)
    with_primary = {channel for (channel, _), a in known.addresses.items() if a.is_primary}
    cleared: list[tuple[RecipientId, str]] = []
    changed: list[AddressChange] = []
    added: list[NewAddress] = []
    for item in addresses:
        channel, present = item.spec.channel, known.addresses.get(item.key)
        becomes = item.spec.primary is True or (
            channel not in with_primary and item.spec.primary is not False
        )
        if becomes and not (present and present.is_primary):
            if channel in with_primary:
                cleared.append((known.recipient.id, channel))
            with_primary.add(channel)
        if present is None:
            added.append(_new_address(known.recipient.id, item, key, is_primary=becomes, now=now))
            continue
        after = AddressChange(
            id=present.id,
            is_primary=present.is_primary or becomes,
            verified=present.verified if item.spec.verified is None else item.spec.verified,
        )
        if (after.is_primary, after.verified) != (present.is_primary, present.verified):
            changed.append(after)
    if facts is None and not changed and not added:
        return None
    return Changes(
        facts=facts or facts_of(known.recipient),
        cleared=tuple(cleared),
        changed=tuple(changed),
        added=tuple(added),
    )


def proven_after(known: MatchedRecipient, changes: Changes) -> bool | None:
    """Whether they have a verified mail address from now on; None where that stays as it was."""
    mails = {a.id: a.verified for (channel, _), a in known.addresses.items() if channel == _MAIL}
    before = any(mails.values())
    mails |= {change.id: change.verified for change in changes.changed if change.id in mails}
    mails |= {address.id: address.verified for address in changes.added if address.channel == _MAIL}
    after = any(mails.values())
    return None if after == before else after


def proven_mailboxes(added: Iterable[NewAddress]) -> dict[str, bool]:
    """Of people who are new: those who come with a verified mail address."""
    return {address.recipient_id: True for address in added if address.channel == _MAIL and address.verified}


def _facts_after(known: MatchedRecipient, spec: RecipientSpec, key: DataKey) -> RecipientFacts | None:
    before = facts_of(known.recipient)
    after = replace(
        before,
        locale=before.locale if isinstance(spec.locale, UnsetType) else spec.locale,
        timezone=before.timezone if isinstance(spec.timezone, UnsetType) else spec.timezone,
        tags=before.tags if isinstance(spec.tags, UnsetType) else spec.tags,
        attributes=before.attributes if isinstance(spec.attributes, UnsetType) else spec.attributes,
    )
    box = before.display_name_ciphertext
    if not isinstance(spec.display_name, UnsetType):
        name = None if box is None else key.unseal(box, NAME_PURPOSE).decode()
        if name != spec.display_name:
            after = replace(after, display_name_ciphertext=_seal_name(spec.display_name, key))
    return None if after == before else after


def _seal_name(name: str | UnsetType | None, key: DataKey) -> bytes | None:
    return key.seal(name.encode(), NAME_PURPOSE) if isinstance(name, str) else None


def _new_address(
    recipient_id: RecipientId, item: HashedAddress, key: DataKey, *, is_primary: bool, now: datetime
) -> NewAddress:
    return NewAddress(
        tenant_id=TenantId(key.tenant_id),
        id=RECIPIENT_ADDRESS.new(now),
        recipient_id=recipient_id,
        channel=item.spec.channel,
        address_hash=item.address_hash,
        ciphertext=key.seal(item.spec.address.encode(), address_purpose(item.spec.channel)),
        is_primary=is_primary,
        verified=bool(item.spec.verified),
    )
