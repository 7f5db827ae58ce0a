"""A message as it is handed to a vendor, and what the vendor made of it.

A message holds an address and a person's words. None of that shows when one is printed, so that a stray log line
or a traceback carries nothing out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from tidings.contracts.callback_forms import Effect
from tidings.contracts.senders import ANY_SENDER
from tidings.contracts.vendor_templates import VendorTemplate
from tidings.kernel.keys.data_key import DataKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where something comes from or answers go to."""

    #: `name@example.org`, a telephone number, a sender name: whatever the channel has.
    value: str = field(repr=False)
    #: What people see beside it.
    name: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that travels with a message, or a picture inside its HTML."""

    filename: str = field(repr=False)
    #: `application/pdf`, without parameters.
    media_type: str
    content: bytes = field(repr=False)
    #: The HTML refers to it as `cid:…`; None for a file that is attached.
    inline_cid: str | None = None


class SenderRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who a message came from, as it is kept."""

    #: A mail address, a number, a sender name; empty where the vendor's account has one of its own.
    value: str
    #: What people see beside it.
    name: str | None = None


class SentRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is kept of a message with every attempt, noted before the vendor is called."""

    sender: SenderRecord
    #: Under the tenant's pepper; of several devices one each, with a space between them. None: it has no address.
    address_hash: str | None = None
    #: A JSON list of the addresses, under the key of the person who is written to.
    address_ciphertext: bytes | None = None
    #: Of what was rendered, under the tenant's pepper.
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """One message to one person over one channel, rendered and ready."""

    #: The notification's id, with the step where it is not the first: the same when a message is repeated, so that a repeat
    #: can be recognised.
    message_id: str
    tenant_id: str
    #: `email`, `sms`, …
    channel: str
    #: Without a value: the account's own sender.
    sender: Address = field(repr=False)
    #: The one address it goes to, in its one spelling.
    to: str = field(repr=False)
    #: Where one step goes to all devices of a person: the others.
    also_to: tuple[str, ...] = field(default=(), repr=False)
    #: What their owner calls these addresses, `to` first and then those of `also_to`: for what is to be said of one of them.
    address_ids: tuple[str, ...] = ()
    to_name: str | None = field(default=None, repr=False)
    reply_to: Address | None = field(default=None, repr=False)
    subject: str | None = field(default=None, repr=False)
    html: str | None = field(default=None, repr=False)
    text: str | None = field(default=None, repr=False)
    #: Of the texts, as a tag of BCP 47; None where it is not said.
    language: str | None = None
    #: Where the vendor sends nothing else to a person who has not written: what it keeps of this text.
    template: VendorTemplate | None = field(default=None, repr=False)
    #: Further headers, name and value, where the channel has any.
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    attachments: tuple[Attachment, ...] = field(default=(), repr=False)
    #: The address of the one-click unsubscribe (RFC 8058).
    list_unsubscribe: str | None = field(default=None, repr=False)
    #: A mail address that unsubscribes the person who writes to it.
    list_unsubscribe_mailto: str | None = field(default=None, repr=False)
    #: The senders that the platform granted to the tenant on this channel, as `is_granted` reads them: what may be shown
    #: over accounts that tenants share.
    grants: tuple[str, ...] = (ANY_SENDER,)
    #: Where messages wait for a connection, it goes before those that are not.
    urgent: bool = False
    #: What the caller gave along (JSON), for adapters that pass it on.
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)
    #: What is kept of it with every attempt.
    record: SentRecord | None = field(default=None, repr=False, compare=False)
    #: The attempt that this call is; None where it is none, such as a test of an account.
    attempt_id: str | None = field(default=None, compare=False)
    #: Of the person who is written to: what the vendor answers is sealed under it. Never encoded: where the message goes to
    #: another process, this is None there, and the key is opened by the recipient's id.
    key: DataKey | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """What a vendor answered, word for word: it may hold an address."""

    content: bytes = field(repr=False)
    #: Of HTTP; None where the vendor speaks something else.
    http_status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The vendor has taken it over."""

    #: The vendor's own name for it, if it gave one.
    provider_message_id: str | None = None
    #: Where an answer of the person will arrive, as an inbound message will name it; None: it can't be answered.
    sender: str | None = field(default=None, repr=False)
    #: It is where the person finds it already: no receipt will say so.
    delivered: bool = False
    #: Devices that it was refused for, beside the one that took it.
    others: "tuple[DeviceRefused, ...]" = ()
    answer: RawAnswer | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The vendor has said no, and it is certain that nothing was sent."""

    #: In words that hold no address and nothing of the message.
    reason: str
    #: The vendor's code: `5.1.1`, `550`, `invalid_recipient`.
    code: str
    #: The same message will not be taken there later either.
    permanent: bool = True
    #: Who refused, where more is known than that the vendor said it.
    status: Literal["failed_perm", "rejected_by_provider", "rejected_by_recipient"] | None = None
    #: What it means for the address.
    effect: Effect | None = None
    #: What the code means, by the status map: a word of ours.
    meaning: str | None = None
    #: The other devices that it was refused for.
    others: "tuple[DeviceRefused, ...]" = ()
    answer: RawAnswer | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRefused:
    """What was said of one device of several that a message went to."""

    #: Which: 0 for the message's `to`, from 1 on those of `also_to`.
    place: int
    refused: Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class TryLater:
    """Nothing was sent, and it may work at another time."""

    reason: str
    code: str
    #: How long the vendor wants to be left alone; None where it did not say.
    after: timedelta | None = None
    #: What the code means, by the status map: a word of ours.
    meaning: str | None = None
    answer: RawAnswer | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlearned:
    """The message may or may not have been taken: the answer was never learned."""

    reason: str
    answer: RawAnswer | None = field(default=None, repr=False, compare=False)


Outcome: TypeAlias = Accepted | Refused | TryLater | Unlearned
