"""Where a recipient can be reached: one spelling per address, a hash to find it by, a hint for people's eyes.

The hash covers the normalised address and not the channel: sms, whatsapp and voice share one telephone number,
and a profile is found by it whatever the channel was. Rows that need the channel have a column for it.

No error here quotes the address, nor has a cause that does.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NewType

from tidings.kernel.errors import BadValueError
from tidings.kernel.urls import normalise_host, normalise_http_url

#: An address in its one spelling.
NormalisedAddress = NewType("NormalisedAddress", str)

MAX_EMAIL_BYTES = 254
MAX_LOCAL_PART_BYTES = 64

_ATOM = re.compile(r"[^\s@\"(),:;<>\[\]\\.]+(?:\.[^\s@\"(),:;<>\[\]\\.]+)*")
#: What stands between the quotes of a quoted local part (RFC 5321, 4.1.2): visible ASCII and blanks, some behind a backslash.
_QUOTED = re.compile(r'"((?:[ !#-\[\]-~]|\\[ -~])+)"')
_ESCAPED = re.compile(r"\\(.)")
_BACKSLASHED = r"\\\1"
_SPECIAL = re.compile(r'(["\\])')
_PHONE = re.compile(r"\+?[\d\s().\-/\u2010-\u2015]{3,40}")
_BY_NUMBER = ("sms", "whatsapp", "voice")
_OPAQUE_LIMITS = {"telegram": 64, "viber": 255, "inapp": 255, "push": 4096}


def normalise(
    channel: str, address: str, *, field: str = "address", default_region: str | None = None
) -> NormalisedAddress:
    """The one spelling of an address; a `BadValueError` naming `field` where it is none.

    `default_region` (`AF`, `DE`, …) lets a telephone number be written as its owners dial it.
    """
    if channel in _BY_NUMBER:
        return NormalisedAddress(_phone(address, field, default_region))
    try:
        of_channel = _NORMALISERS[channel]
    except KeyError:
        of_channel = None
    if of_channel is None:
        raise BadValueError("channel", f"must be one of {', '.join(CHANNELS)}")
    return NormalisedAddress(of_channel(address, field))


def sharing(channel: str) -> tuple[str, ...]:
    """The channels on which an address of this one is the same address: a number is one number, however it is used."""
    return _BY_NUMBER if channel in _BY_NUMBER else (channel,)


def redact(address: str) -> str:
    """A hint that lets its owner recognise an address and tells others nothing they can write to."""
    if "://" in address:
        return "https://…"
    if "@" in address:
        local, _, domain = address.rpartition("@")
        name, dot, top = domain.rpartition(".")
        return f"{_initial(local)}@{_initial(name)}{dot}{top if dot and len(top) <= 6 else '…'}"
    digits = address.lstrip("+")
    if address.startswith("+") and digits.isdigit() and len(digits) >= 7:
        return f"+…{digits[-2:]}"
    return "…"


def _initial(word: str) -> str:
    return f"{word[0]}…" if len(word) >= 3 else "…"


def _email(text: str, field: str) -> str:
    whole = _composed_lower(text.strip())
    if len(whole) > MAX_EMAIL_BYTES:
        raise BadValueError(field, f"must have at most {MAX_EMAIL_BYTES} bytes")
    written, at, domain = whole.rpartition("@")
    local = local_part(written) if at else None
    if local is None:
        raise BadValueError(field, "must be an e-mail address such as name@example.org")
    if domain.startswith("["):
        raise BadValueError(
            field,
            "must have a domain after the @, and not a host's address in brackets: mail is not sent to those",
        )
    if len(local.encode("utf-8")) > MAX_LOCAL_PART_BYTES:
        raise BadValueError(field, f"must have at most {MAX_LOCAL_PART_BYTES} bytes before the @")
    host = normalise_host(domain)
    if host is None or "." not in host or host.rpartition(".")[2].isdigit():
        raise BadValueError(field, "must have a valid domain after the @")
    if len(local.encode("utf-8")) + 1 + len(host) > MAX_EMAIL_BYTES:
        raise BadValueError(field, f"must have at most {MAX_EMAIL_BYTES} bytes")
    return f"{local}@{host}"


def local_part(written: str) -> str | None:
    """What stands before the @ in its one spelling, or None where it is none.

    Quotes are left out where nothing needs them: `"laila"` and `laila` are one mailbox.
    """
    quoted = _QUOTED.fullmatch(written)
    if quoted is None:
        return written if _ATOM.fullmatch(written) and written.isprintable() else None
    meant = _ESCAPED.sub(r"\1", quoted[1])
    return meant if _ATOM.fullmatch(meant) else f'"{_SPECIAL.sub(_BACKSLASHED, meant)}"'


def _composed_lower(text: str) -> str:
    # Lower-casing can take a composed letter apart, so it is composed once more.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def _phone(text: str, field: str, default_region: str | None) -> str:
    import phonenumbers  # heavy: only those who handle telephone numbers pay for it

    def parsed(written: str) -> phonenumbers.PhoneNumber | None:
        try:
            return phonenumbers.parse(written, default_region)
        except phonenumbers.NumberParseException:
            return None

    trimmed = text.strip()
    # Letters are refused rather than dialled: a vanity word or an extension is not an address.
    number = parsed(trimmed) if _PHONE.fullmatch(trimmed) else None
    # Possible, not "valid": numbering plans grow faster than any table of them.
    if number is None or not phonenumbers.is_possible_number(number):
        example = "" if default_region else ", with + and the country code"
        raise BadValueError(field, f"must be a telephone number{example}, such as +93701234567")
    dialled = str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
    # The 0 of +44 (0)20… is left out. Where another would be left out of the rest, one number would have two hashes.
    if dialled != trimmed and parsed(dialled) != number:
        raise BadValueError(field, "must be a telephone number with at most one 0 before its area code")
    return dialled


def _opaque(limit: int) -> Callable[[str, str], str]:
    def normalise_opaque(text: str, field: str) -> str:
        trimmed = text.strip()
        if not trimmed or len(trimmed) > limit:
            raise BadValueError(field, f"must have between 1 and {limit} characters")
        if not trimmed.isprintable():
            raise BadValueError(field, "must not contain control characters")
        return trimmed

    return normalise_opaque


def _webhook(text: str, field: str) -> str:
    url = normalise_http_url(text.strip())
    if url is None:
        raise BadValueError(
            field, "must be an absolute http or https URL without user name, password or fragment"
        )
    return url


_NORMALISERS: Mapping[str, Callable[[str, str], str]] = MappingProxyType(
    {"email": _email, "webhook": _webhook}
    | {channel: _opaque(limit) for channel, limit in _OPAQUE_LIMITS.items()}
)
#: Channels that have addresses.
CHANNELS = ("email", "sms", "whatsapp", "telegram", "viber", "voice", "push", "inapp", "webhook")
