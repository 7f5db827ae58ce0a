"""Suppressions: addresses and mail domains that must not be written to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, get_args

from msgspec import Struct

from tidings.contracts.addresses import NormalisedAddress, normalise
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.keys.pepper import Pepper
from tidings.notify.ids import AddressRefusalId, ImportId, SuppressionId

#: Channels on which an address can be suppressed: those where it belongs to a person out there.
SuppressibleChannel = Literal["email", "sms", "whatsapp", "telegram", "viber", "voice", "push"]

CHANNELS: Final[tuple[SuppressibleChannel, ...]] = get_args(SuppressibleChannel)

#: The subject whose key seals the addresses of suppressions, so that an erased recipient's does not open them.
SEALED_FOR = "_tenant/suppressions"


def sealing_purpose(channel: str) -> str:
    """An address of one channel does not open as another's."""
    return f"suppression:{channel}"


class SuppressionReason(StrEnum):
    """Why somebody must not be written to."""

    HARD_BOUNCE = "hard_bounce"
    #: After the threshold of soft bounces.
    SOFT_BOUNCE = "soft_bounce"
    COMPLAINT = "complaint"
    INVALID_ADDRESS = "invalid_address"
    OPT_OUT = "opt_out"
    MANUAL = "manual"
    COMPLIANCE = "compliance"
    RATE_LIMIT = "rate_limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """One address that a tenant must not write to."""

    id: SuppressionId
    channel: SuppressibleChannel
    #: Under the tenant's pepper.
    address_hash: str
    #: Under the tenant's own key; None where it came as a hash, or its recipient was erased.
    address_ciphertext: bytes | None
    reason: SuppressionReason
    source_notification_id: str | None
    notes: str | None
    #: None: for good.
    expires_at: datetime | None
    released_at: datetime | None
    released_by: str | None
    #: When another service suppressed it, by its list, or its owner wrote that they want no more; None where that is not known, or
    #: it began with its row.
    occurred_at: datetime | None = None

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)

    @property
    def since(self) -> datetime:
        """When it happened: by the list that it came with, by its owner's message, or when it was added."""
        return self.occurred_at or self.created_at

    def in_force(self, now: datetime) -> bool:
        """Whether it holds at that moment."""
        return self.released_at is None and (self.expires_at is None or self.expires_at > now)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionFilter:
    """Which suppressions are wanted; None: whichever."""

    channel: SuppressibleChannel | None
    reason: SuppressionReason | None
    #: Those too that hold nothing back any more.
    with_released: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionSpec:
    """An address that is to be suppressed."""

    channel: SuppressibleChannel
    address: NormalisedAddress
    reason: SuppressionReason
    source_notification_id: str | None = None
    notes: str | None = None
    expires_at: datetime | None = None
    #: When another service suppressed it, or its owner asked for it.
    occurred_at: datetime | None = None

    def __repr__(self) -> str:
        return f"SuppressionSpec({self.channel}, {self.reason}, ***)"


class SuppressionQuestion(Struct, frozen=True, kw_only=True):
    """One address to look up before it is written to."""

    tenant_id: TenantId
    channel: str
    #: Under the tenant's pepper.
    address_hash: str
    #: Under the platform's pepper; None where the address could not be opened.
    platform_hash: str | None
    #: The part after the @, for mail.
    mail_domain: str | None
    #: All addresses of that domain, under the tenant's pepper.
    domain_hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionMatch:
    """Why an address must not be written to."""

    by: Literal["tenant", "platform", "domain"]
    suppression_id: SuppressionId
    reason: SuppressionReason


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionLookup:
    """How a set of addresses stands, by their place in the question."""

    held: Mapping[int, SuppressionMatch]
    #: What their owners refused from them, by category; '' for everything.
    refused: Mapping[int, Mapping[str, AddressRefusalId]]


#: Before the notes of a row that an import brought: no row of an import has an audit of its own.
_BROUGHT: Final = re.compile(r"import (imp_[0-9A-HJKMNP-TV-Z]{26})(?:: |\Z)")


def brought_notes(import_id: ImportId, notes: str | None) -> str:
    """What is kept as notes of a row that an import brings: which import, then what the file says."""
    return f"import {import_id}: {notes}" if notes else f"import {import_id}"


def own_notes(notes: str | None) -> str | None:
    """Notes without the import that they name: a file of our own says which one its rows came with before."""
    found = _BROUGHT.match(notes or "")
    return (notes[found.end() :] if notes and found else notes) or None


def brought_by(notes: str | None) -> ImportId | None:
    """The import that such notes name."""
    found = _BROUGHT.match(notes or "")
    return None if found is None else ImportId(found[1])


#: What is noted of a person who wrote STOP: the word, its language, where they wrote it.
_ASKED: Final = re.compile(
    r"[^@\d]{1,64}, in [A-Za-z() -]{2,40}, (?:conversation [a-z]+_[0-9A-HJKMNP-TV-Z]{26}|over a shared number)"
)
_LANGUAGES: Final = {
    "en": "English",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "ar": "Arabic",
    "fa": "Persian",
    "ps": "Pashto",
    "ha": "Hausa",
    "yo": "Yoruba",
    "ig": "Igbo",
}


def asked_notes(*, keyword: str, language: str, conversation_id: str | None) -> str:
    """What is kept as notes of a person who wrote such a word: `STOP, in Hausa, conversation conv_…`.

    Without a conversation of the tenant's own it was said to another tenant, over a number that both share.
    """
    tongue = _LANGUAGES.get(language.partition("-")[0].lower(), "another language")
    word = re.sub(r"[@\d]", "", keyword)[:64].strip() or "a keyword"
    where = "over a shared number" if conversation_id is None else f"conversation {conversation_id}"
    return f"{word}, in {tongue}, {where}"


def asked_by(notes: str | None) -> str | None:
    """Such notes, which every caller may read; None for others, where people write whatever they like."""
    return notes if notes is not None and _ASKED.fullmatch(notes) else None


def mail_domain_of(channel: str, address: str) -> str | None:
    """The part after the @, for mail."""
    return address.rpartition("@")[2] if channel == "email" else None


def whole_domain(domain: str, *, field: str = "mail_domain") -> NormalisedAddress:
    """All addresses of a mail domain, as one that no person can have: `@example.org`."""
    try:
        return NormalisedAddress(normalise("email", f"x@{domain.strip()}")[1:])
    except BadValueError:
        raise BadValueError(field, "must be a mail domain such as example.org") from None


def domain_of(target: str) -> str | None:
    """The domain, where all its addresses are meant; None for an address."""
    return target[1:] if target.startswith("@") else None


def domain_hash_of(channel: str, address: str, pepper: Pepper) -> str | None:
    """What a suppression of the whole domain of this address is found by."""
    domain = mail_domain_of(channel, address)
    return None if domain is None else pepper.hash(f"@{domain}")
