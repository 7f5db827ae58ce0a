"""A mail for vendors that want it in pieces or whole: checked by the same rules as one that we send ourselves.

Whatever goes to a vendor has passed through `mime.build`: addresses are addresses, no value holds a line break, and no sender's
header takes the place of one that Tidings writes.
"""

import base64
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from tidings.contracts.messages import Attachment, OutboundMessage
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.mail.headers import MailAddress
from tidings.router.adapters.mail.mime import Mail, build

#: What our message id is called among a vendor's own arguments.
ID_ARGUMENT: Final = "tidings_id"
_EPOCH: Final = datetime.fromtimestamp(0, UTC)
#: Fields that the vendor writes from the pieces.
_THEIRS: Final = frozenset({"from", "to", "reply-to", "subject", "date", "message-id", "mime-version"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MailParts:
    """The pieces of a mail, safe to be put together by a vendor."""

    sender: str = field(repr=False)
    to: str = field(repr=False)
    reply_to: str | None = field(repr=False)
    #: Further header fields, each on one line of ASCII.
    headers: tuple[tuple[str, str], ...] = field(repr=False)


def parts_of(message: OutboundMessage, *, orders: tuple[str, ...]) -> MailParts:
    """The pieces; a `BadValueError` that names the field where something can't be said in a mail.

    `orders`: beginnings of names of headers, in lower case, that the vendor takes for orders to itself.
    """
    _refuse_others(message, orders)
    for where, text in (("text", message.text), ("html", message.html)):
        _refuse_unwritable(text, where)
    # Built with next to nothing in it: all the checks, and none of the encoding.
    mail = build(
        replace(
            message,
            text=None if message.text is None else "-",
            html=None if message.html is None else "-",
            attachments=tuple(replace(one, content=b"") for one in message.attachments),
        ),
        at=_EPOCH,
    )
    return MailParts(
        sender=mail.sender,
        to=mail.to,
        reply_to=MailAddress(message.reply_to.value, "reply_to").spec if message.reply_to else None,
        headers=(("Auto-Submitted", "auto-generated"), *_further(mail)),
    )


def whole_mail(message: OutboundMessage, *, at: datetime, orders: tuple[str, ...]) -> Mail:
    """The mail as it goes over the wire, for vendors that take it so and carry no addresses but ASCII ones."""
    _refuse_others(message, orders)
    mail = build(message, at=at)
    if mail.needs_utf8:
        addresses = {"sender": message.sender.value, "to": message.to}
        where = next((name for name, value in addresses.items() if not _is_ascii(value)), "reply_to")
        raise BadValueError(where, "must be ASCII before the @: this vendor carries no other addresses")
    return mail


def in_base64(attachment: Attachment) -> str:
    """A file's content as JSON can hold it."""
    return base64.b64encode(attachment.content).decode("ascii")


def _refuse_others(message: OutboundMessage, orders: tuple[str, ...]) -> None:
    if message.channel != "email":
        raise BadValueError("channel", "must be email for this adapter")
    for i, (name, _) in enumerate(message.headers):
        if name.lower().startswith(orders):
            raise BadValueError(f"headers[{i}]", "must not be one by which the vendor is given orders")


def _refuse_unwritable(text: str | None, where: str) -> None:
    if text is None:
        return
    if "\0" in text:
        raise BadValueError(where, "must not contain zero characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadValueError(where, "must be valid Unicode text") from None


def _further(mail: Mail) -> list[tuple[str, str]]:
    """The fields of a mail that no piece stands for, unfolded."""
    found = []
    for one in mail.fields:
        name, _, value = one.partition(":")
        if name.lower() not in _THEIRS and not name.lower().startswith("content-"):
            found.append((name, value.replace("\r\n", "").strip()))
    return found


def _is_ascii(address: str) -> bool:
    return address.rpartition("@")[0].isascii()
