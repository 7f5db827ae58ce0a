"""Receipts as SMSCs write them: in optional parameters, and in a text that was never standardised (SMPP 3.4, appendix B)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

from tidings.contracts.callback_forms import Canonical, Details, ReadEvent
from tidings.router.adapters.redaction import kept_code
from tidings.router.adapters.smpp.pdu import (
    ABOUT_ANOTHER,
    TLV_MESSAGE_STATE,
    TLV_NETWORK_ERROR,
    TLV_RECEIPTED_MESSAGE_ID,
    DeliverSm,
)
from tidings.router.adapters.smpp.text_encoding import split_header

#: How an SMSC writes its ids: as a text that is the same everywhere, or as a number.
IdForm: TypeAlias = Literal["text", "decimal", "hex"]

#: Their word → ours.
_WORDS: Final[Mapping[str, Canonical]] = {
    "acceptd": "accepted",
    "scheduled": "accepted",
    "enroute": "sent",
    "buffred": "sent",
    "delivrd": "delivered",
    "expired": "failed_perm",
    "undeliv": "failed_perm",
    "skipped": "failed_perm",
    "failed": "failed_perm",
    "rejectd": "rejected_by_provider",
    "deleted": "cancelled",
    "unknown": "unknown",
}
#: The same words, as some write them out.
_SPELLINGS: Final[Mapping[str, str]] = {
    "accepted": "acceptd",
    "en_route": "enroute",
    "en-route": "enroute",
    "buffered": "buffred",
    "delivered": "delivrd",
    "delivred": "delivrd",
    "undeliverable": "undeliv",
    "undelivered": "undeliv",
    "undelivrd": "undeliv",
    "not_delivered": "undeliv",
    "rejected": "rejectd",
    "cancelled": "deleted",
    "canceled": "deleted",
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
#: After these nothing comes any more.
_LAST: Final = frozenset({"delivrd", "expired", "undeliv", "skipped", "failed", "rejectd", "deleted"})
_KEYS: Final = r"id|sub|dlvrd|submit[\s_]*date|done[\s_]*date|stat|err"
#: Any number of blanks, a value in quotes, a comma behind it, or no value at all.
_FIELD: Final = re.compile(
    rf"\b({_KEYS})\s*[:=]\s*(?!(?:{_KEYS}|text)\s*[:=])(?:\"([^\"]*)\"|'([^']*)'|([^\s:,;\"']*))",
    re.IGNORECASE,
)
#: The message's own beginning stands at the end and may hold anything.
_OWN_WORDS: Final = re.compile(r"\btext\s*[:=]", re.IGNORECASE)
_DIGITS: Final = re.compile(r"[0-9]*")
_TIMES: Final[Mapping[int, tuple[str, ...]]] = {
    10: ("%y%m%d%H%M",),
    # The second is one that begins with the century and has no seconds.
    12: ("%y%m%d%H%M%S", "%Y%m%d%H%M"),
    14: ("%Y%m%d%H%M%S",),
}
_WITH_MILLISECONDS: Final = 15
_MOST_AHEAD: Final = timedelta(days=1)
_NO_ERROR: Final = re.compile(r"(?:0x)?0*|none|ok|no[_-]?error", re.IGNORECASE)


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

    def read(self, delivery: DeliverSm, *, now: datetime) -> ReadEvent | None:
        """What it says; None where it does not say of which message."""
        fields = _fields(delivery)
        message_id = self._id(delivery, fields)
        if message_id is None:
            return None
        word = _word(fields.get("stat", ""), _state(delivery))
        done = fields.get("donedate", "")[:40]
        code = kept_code(fields.get("err")) or _network_error(delivery)
        return ReadEvent(
            vendor_message_id=message_id,
            word=word,
            status=_WORDS.get(word, "unknown"),
            occurred_at=self._moment(done, now),
            discriminator=f"{word} {done}".strip(),
            details=Details(code=code) if code is not None and not _NO_ERROR.fullmatch(code) else None,
        )

    def _id(self, delivery: DeliverSm, fields: Mapping[str, str]) -> str | None:
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
        found = _DIGITS.match(text)
        digits = found[0] if found else ""
        if len(digits) == _WITH_MILLISECONDS:
            digits = digits[:12]
        elif digits != text:
            return None
        for form in _TIMES.get(len(digits), ()):
            try:
                moment = datetime.strptime(digits, form).replace(tzinfo=UTC)
                moment -= timedelta(minutes=self.offset_minutes)
            except (ValueError, OverflowError):
                continue
            return moment if moment - now <= _MOST_AHEAD else None
        return None


def is_receipt(delivery: DeliverSm) -> bool:
    """Whether it is about a message of ours, and not from a person.

    The text alone never makes it one: any person can write `stat:DELIVRD`.
    """
    if delivery.esm_class & ABOUT_ANOTHER:
        return True
    return TLV_RECEIPTED_MESSAGE_ID in delivery.tlvs and TLV_MESSAGE_STATE in delivery.tlvs


def _fields(delivery: DeliverSm) -> dict[str, str]:
    text = _text(split_header(delivery)[0])
    if own := _OWN_WORDS.search(text):
        text = text[: own.start()]
    found: dict[str, str] = {}
    for name, *values in _FIELD.findall(text):
        key = "".join(c for c in name.lower() if c.isalpha())
        found.setdefault(key, "".join(values).strip())
    return found


def _text(content: bytes) -> str:
    """By what stands there: receipts come in UCS-2 with any data_coding, and in ASCII with that of UCS-2."""
    half = len(content) // 2
    if half and content[0::2].count(0) * 2 > half:
        text = content.decode("utf-16-be", "replace")
    elif half and content[1::2].count(0) * 2 > half:
        text = content.decode("utf-16-le", "replace")
    else:
        # Of the GSM alphabet the underscore is elsewhere.
        text = content.decode("latin-1").replace("\x11", "_")
    # Some end the text with a zero character, which no column can hold.
    return text.replace("\0", " ")


def _word(written: str, state: str | None) -> str:
    """What became of it, in the words of the specification; another word is kept as it is.

    message_state is what the specification means it to be, and the text is free: where both end the message and differ,
    the state counts. One that ends it goes before one that does not, because nothing comes after it.
    """
    word = written.lower()[:40]
    if word.isascii() and word.isdecimal():
        word = _STATES.get(int(word), word)
    word = _SPELLINGS.get(word, word)
    if state is None or state == "unknown":
        return word or "unknown"
    if state in _LAST or word not in _LAST:
        return state
    return word


def _state(delivery: DeliverSm) -> str | None:
    raw = delivery.tlvs.get(TLV_MESSAGE_STATE, b"")
    return _STATES.get(raw[0]) if raw else None


def _network_error(delivery: DeliverSm) -> str | None:
    """network_error_code: the kind of network, and its own number; some write three digits there instead."""
    raw = delivery.tlvs.get(TLV_NETWORK_ERROR, b"")
    if len(raw) != 3:
        return None
    return str(int(raw)) if raw.isdigit() else str(int.from_bytes(raw[1:3], "big"))
