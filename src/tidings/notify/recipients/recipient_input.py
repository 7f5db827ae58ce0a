"""What a caller wants a recipient to be, checked and normalised; the same for every way in."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.addresses import NormalisedAddress, normalise
from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.contracts.tenants import Channel, Locale, TimeZone
from tidings.contracts.text import Label
from tidings.kernel.errors import BadValueError
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.recipients.model import Identity, IdentityType
from tidings.notify.tenants.locales import UNKNOWN_LOCALE, locale_exists
from tidings.notify.tenants.model import zone_exists

#: Attributes are queried and in the clear; they are no document store.
MOST_ATTRIBUTE_BYTES = 8192
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}")

Tag = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[a-z0-9][a-z0-9_.:-]*\Z",
        description="must be lower-case letters, digits and _ . : -",
    ),
]
IdentityId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=r"^[^\s\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z",
        description="must be 1 to 200 characters without spaces",
    ),
]


class IdentityInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who somebody is in your own system."""

    type: IdentityType
    #: May be left out for `anonymous`: somebody known by address alone.
    id: IdentityId | None = None


class AddressInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where somebody can be reached."""

    channel: Channel
    address: Annotated[str, Meta(min_length=1, max_length=4096)]
    #: True makes it the one that is used; the first address of a channel is so by itself.
    primary: bool | UnsetType = UNSET
    #: Whether you have seen that it is theirs.
    verified: bool | UnsetType = UNSET


def _remedies(write: str) -> dict[str, str]:
    """What many type first, by the channel that it stands for."""
    named = {
        "email": ("email", "mail", "email_address", "mail_address", "to", "address"),
        "sms": ("sms", "phone", "phone_number", "mobile", "msisdn", "number", "telephone", "tel"),
        "whatsapp": ("whatsapp",),
        "telegram": ("telegram",),
        "push": ("push", "device", "device_token", "push_token"),
    }
    examples = {"email": "name@example.org", "sms": "+93701234567", "whatsapp": "+93701234567"}
    return {
        word: write.format(
            f'"addresses": [{{"channel": "{channel}", "address": "{examples.get(channel, "…")}"}}]'
        )
        for channel, words in named.items()
        for word in words
    }


#: Beside the recipient of a message, and instead of it.
RECIPIENT_REMEDIES = _remedies("write {}")
MESSAGE_REMEDIES = _remedies('write "recipient": {{{}}}')


class RecipientInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A recipient to make or to bring up to date; what is left out stays as it is."""

    remedies: ClassVar[dict[str, str]] = {
        **RECIPIENT_REMEDIES,
        "name": "did you mean display_name?",
        "language": "did you mean locale?",
    }

    #: Somebody known already.
    id: Annotated[str, Meta(max_length=40)] | UnsetType = UNSET
    identity: IdentityInput | UnsetType = UNSET
    #: Null forgets the name.
    display_name: Label | UnsetType | None = UNSET
    locale: Locale | UnsetType = UNSET
    timezone: TimeZone | UnsetType = UNSET
    #: Replace those that are there.
    tags: Annotated[list[Tag], Meta(max_length=100)] | UnsetType = UNSET
    #: Replace those that are there. In the clear, for queries: not for personal data.
    attributes: dict[str, Any] | UnsetType = UNSET
    #: Added to those that are there.
    addresses: Annotated[list[AddressInput], Meta(max_length=50)] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressSpec:
    """An address in its one spelling."""

    channel: Channel
    address: NormalisedAddress
    #: None: as it is; the first of a channel becomes primary by itself.
    primary: bool | None
    verified: bool | None

    def __repr__(self) -> str:
        return f"AddressSpec({self.channel}, ***)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientSpec:
    """One recipient as a caller wants it; UNSET: as it is."""

    id: RecipientId | None = None
    identity: Identity | None = None
    display_name: str | UnsetType | None = UNSET
    locale: str | UnsetType = UNSET
    timezone: str | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    attributes: dict[str, Any] | UnsetType = UNSET
    addresses: tuple[AddressSpec, ...] = ()

    def __repr__(self) -> str:
        return f"RecipientSpec(id={self.id}, addresses={len(self.addresses)}, ***)"


def spec_of(given: RecipientInput, *, field: str = "", region: str | None = None) -> RecipientSpec:
    """The spec behind a checked body; an `InvalidError` that names every wrong field below `field`."""
    at = f"{field}." if field else ""
    wrong: list[FieldError] = []
    known_id = _id_of(given, at, wrong)
    identity = _identity_of(given, at, wrong)
    addresses = addresses_of(given.addresses, f"{at}addresses", wrong, region=region)
    by_id = not isinstance(given.id, UnsetType)
    if not by_id and identity is None and not given.addresses:
        wrong.append(FieldError(field, "must say who it is: an id, an identity or at least one address"))
    elif not by_id and identity == Identity(type=IdentityType.ANONYMOUS, id=None) and not given.addresses:
        wrong.append(FieldError(f"{at}addresses", "must hold an address: it is all that is known of them"))
    wrong += facts_wrong(
        locale=given.locale, timezone=given.timezone, tags=given.tags, attributes=given.attributes, at=at
    )
    if wrong:
        raise InvalidError(wrong)
    return RecipientSpec(
        id=known_id,
        identity=identity,
        display_name=given.display_name,
        locale=UNSET if isinstance(given.locale, UnsetType) else canonical_locale(given.locale),
        timezone=given.timezone,
        tags=UNSET if isinstance(given.tags, UnsetType) else tuple(given.tags),
        attributes=given.attributes,
        addresses=addresses,
    )


def addresses_of(
    given: Sequence[AddressInput], at: str, wrong: list[FieldError], *, region: str | None = None
) -> tuple[AddressSpec, ...]:
    """The addresses in their one spelling; what is wrong with them is added to `wrong`."""
    found: dict[tuple[str, str], AddressSpec] = {}
    primaries: set[str] = set()
    for i, item in enumerate(given):
        try:
            spelt = normalise(
                item.channel,
                item.address,
                field=f"{at}[{i}].address" if at else "address",
                default_region=region,
            )
        except BadValueError as error:
            wrong.append(FieldError(error.field, error.remedy))
            continue
        if (item.channel, spelt) in found:
            wrong.append(FieldError(f"{at}[{i}].address", "is there twice for this channel"))
        if item.primary is True and item.channel in primaries:
            wrong.append(FieldError(f"{at}[{i}].primary", "can be true for one address of a channel only"))
        if item.primary is True:
            primaries.add(item.channel)
        found[item.channel, spelt] = AddressSpec(
            channel=item.channel,
            address=spelt,
            primary=None if isinstance(item.primary, UnsetType) else item.primary,
            verified=None if isinstance(item.verified, UnsetType) else item.verified,
        )
    return tuple(found.values())


def facts_wrong(
    *,
    locale: str | UnsetType,
    timezone: str | UnsetType,
    tags: Sequence[str] | UnsetType,
    attributes: dict[str, Any] | UnsetType,
    at: str = "",
) -> list[FieldError]:
    """What the types can't say about a recipient's own facts."""
    wrong: list[FieldError] = []
    if not isinstance(locale, UnsetType) and not locale_exists(locale):
        wrong.append(FieldError(f"{at}locale", UNKNOWN_LOCALE))
    if not isinstance(timezone, UnsetType) and not zone_exists(timezone):
        wrong.append(FieldError(f"{at}timezone", "must be an IANA time zone such as Asia/Kabul"))
    if not isinstance(tags, UnsetType) and len(set(tags)) != len(tags):
        wrong.append(FieldError(f"{at}tags", "must name each tag once"))
    if not isinstance(attributes, UnsetType):
        if any(not _NAME.fullmatch(name) for name in attributes):
            wrong.append(FieldError(f"{at}attributes", "must have names of letters, digits and _ . -"))
        if len(msgspec.json.encode(attributes)) > MOST_ATTRIBUTE_BYTES:
            wrong.append(FieldError(f"{at}attributes", f"must take at most {MOST_ATTRIBUTE_BYTES} bytes"))
    return wrong


def canonical_locale(locale: str) -> str:
    """A language tag in its usual spelling: `FA-af` is `fa-AF`."""
    first, *rest = locale.split("-")
    return "-".join([first.lower(), *(_CASES.get(len(part), str.lower)(part) for part in rest)])


#: Scripts have four letters, regions two; all else is small.
_CASES: dict[int, Callable[[str], str]] = {2: str.upper, 4: str.title}


def _id_of(given: RecipientInput, at: str, wrong: list[FieldError]) -> RecipientId | None:
    if isinstance(given.id, UnsetType):
        return None
    if not isinstance(given.identity, UnsetType):
        wrong.append(FieldError(f"{at}identity", "can't be changed; leave it out beside an id"))
    try:
        return RECIPIENT.parse(given.id, field=f"{at}id")
    except BadValueError as error:
        wrong.append(FieldError(error.field, error.remedy))
        return None


def _identity_of(given: RecipientInput, at: str, wrong: list[FieldError]) -> Identity | None:
    if isinstance(given.identity, UnsetType):
        return None
    if given.identity.id is None and given.identity.type is not IdentityType.ANONYMOUS:
        wrong.append(FieldError(f"{at}identity.id", "is required for everybody but anonymous"))
    return Identity(type=given.identity.type, id=given.identity.id)
