"""Receipts as SMSCs write them: in optional parameters, and in a text that nobody has ever standardised (SMPP 3.4, appendix B)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

from tidings.contracts.callback_forms import Canonical, Details, ReadEvent
from tidings.router.adapters.callback_words import kept_code
from tidings.router.adapters.smpp_pdu import (
    ABOUT_ANOTHER,
    TLV_MESSAGE_STATE,
    TLV_NETWORK_ERROR,
    TLV_RECEIPTED_MESSAGE_ID,
    Delivery,
)

#: How an SMSC writes its ids: as a text that is the same everywhere, or as a number.
IdForm: TypeAlias = Literal["text", "decimal", "hex"]

#: Their word → ours.
_WORDS: Final[Mapping[str, Canonical]] = {
    "accepted": "accepted",
    "acceptd": "accepted",
    "enroute": "sent",
    "buffred": "sent",
    "scheduled": "accepted",
    "delivrd": "delivered",
    "expired": "failed_perm",
    "undeliv": "failed_perm",
    "skipped": "failed_perm",
    "failed": "failed_perm",
    "rejectd": "rejected_by_provider",
    "deleted": "cancelled",
    "unknown": "unknown",
}
#: message_state → the word that the text would have (SMPP 3.4, 5.2.28; 0 and 9 are of 5.0).
_STATES: Final[Mapping[int, str]] = {
    0: "scheduled",
    1: "enroute",
    2: "delivrd",
    3: "expired",
    4: "deleted",
    5: "undeliv",
    6: "acceptd",
    7: "unknown",
    8: "rejectd",
    9: "skipped",
}
_KEYS: Final = r"id|sub|dlvrd|submit[ _]date|done[ _]date|stat|err"
#: Some write a blank behind the colon, and some leave a value out.
_FIELD: Final = re.compile(rf"\b({_KEYS})\s*: ?(?!(?:{_KEYS}|text)\s*:)([^\s:]*)", re.IGNORECASE)
_TIMES: Final = {10: "%y%m%d%H%M", 12: "%y%m%d%H%M%S", 14: "%Y%m%d%H%M%S"}
_MOST_AHEAD: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptForm:
    """How one account's SMSC writes its receipts."""

    #: In submit_sm_resp and in receipted_message_id.
    response_ids: IdForm
    #: In the text of a receipt.
    receipt_ids: IdForm
    #: Minutes by which the SMSC's clock is ahead of UTC.
    offset_minutes: int

    def response_id(self, text: str) -> str:
        """An id of a response, in the one form in which both are compared."""
        return self._one_form(text, self.response_ids)

    def read(self, delivery: Delivery, *, now: datetime) -> ReadEvent | None:
        """What it says; None where it does not say of which message."""
        fields = _fields(delivery.content)
        message_id = self._id(delivery, fields)
        if message_id is None:
            return None
        word = (fields.get("stat") or _state(delivery) or "unknown").lower()[:40]
        done = fields.get("done date", "")[:40]
        code = kept_code(fields.get("err")) or _network_error(delivery)
        return ReadEvent(
            vendor_message_id=message_id,
            word=word,
            status=_WORDS.get(word, "unknown"),
            occurred_at=self._moment(done, now),
            discriminator=f"{word} {done}".strip(),
            details=Details(code=code) if code is not None and code.strip("0") else None,
        )

    def _id(self, delivery: Delivery, fields: Mapping[str, str]) -> str | None:
        told = delivery.tlvs.get(TLV_RECEIPTED_MESSAGE_ID, b"").partition(b"\0")[0].decode("latin-1").strip()
        if told:
            return self._one_form(told, self.response_ids)[:200]
        text = fields.get("id", "")
        return self._one_form(text, self.receipt_ids)[:200] or None

    def _one_form(self, text: str, form: IdForm) -> str:
        if self.response_ids == "text" and self.receipt_ids == "text":
            return text
        try:
            return str(int(text, 16 if form == "hex" else 10))
        except ValueError:
            return text

    def _moment(self, text: str, now: datetime) -> datetime | None:
        form = _TIMES.get(len(text))
        if form is None or not text.isascii() or not text.isdecimal():
            return None
        try:
            found = datetime.strptime(text, form).replace(tzinfo=UTC) - timedelta(minutes=self.offset_minutes)
        except (ValueError, OverflowError):
            return None
        return found if found - now <= _MOST_AHEAD else None


def is_receipt(delivery: Delivery) -> bool:
    """Whether it is about a message of ours, and not from a person.

    The text alone never makes it one: anybody can write `stat:DELIVRD`.
    """
    if delivery.esm_class & ABOUT_ANOTHER:
        return True
    return TLV_RECEIPTED_MESSAGE_ID in delivery.tlvs and TLV_MESSAGE_STATE in delivery.tlvs


def _fields(content: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    # Some end the text with a zero character, which no column can hold.
    for name, value in _FIELD.findall(content.decode("latin-1").replace("\0", " ")):
        # The message's own beginning stands at the end and may hold anything.
        found.setdefault(name.lower().replace("_", " "), value)
    return found


def _state(delivery: Delivery) -> str | None:
    raw = delivery.tlvs.get(TLV_MESSAGE_STATE, b"")
    return _STATES.get(raw[0]) if raw else None


def _network_error(delivery: Delivery) -> str | None:
    """network_error_code: the kind of network, and its own number."""
    raw = delivery.tlvs.get(TLV_NETWORK_ERROR, b"")
    return str(int.from_bytes(raw[1:3], "big")) if len(raw) == 3 else None
