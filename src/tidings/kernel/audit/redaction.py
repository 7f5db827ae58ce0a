"""What may stand in `before`, `after` and `reason` of an audit row.

The audit says who changed which field; what people are called, where they live and what they were told is
not its business. A field whose name speaks of such things is masked whole, whatever is inside. In other
texts, whatever looks like an address or a credential is masked.
"""

import itertools
import re
from typing import Any, Final

import msgspec

from tidings.kernel.logs import redact_text

MASK: Final = "***"
_LONGEST_TEXT = 1000

#: Words that make a field's name personal or secret.
_PERSONAL = frozenset({
    "address", "addresses", "email", "emails", "mail", "mails", "phone", "phones", "mobile", "msisdn",
    "msisdns", "subject", "preheader", "body", "bodies", "html", "text", "variables", "attachments",
    "secret", "secrets", "token", "tokens", "password", "passwords", "passphrase", "credential",
    "credentials", "otp", "pin", "authorization", "cookie", "ciphertext", "plaintext",
    # An audit can't be changed, so what an erasure has to take away must never get into it.
    "tags", "attributes", "evidence",
})  # fmt: skip
_PAIRS = frozenset(
    pair.partition(" ")[::2]
    for pair in ("display name", "full name", "api key", "private key", "data key", "user agent")
)
#: A last word that makes a name harmless: it holds a reference, a digest, a time or a kind.
_HARMLESS_LAST = frozenset({"hash", "ref", "at", "count", "format", "version", "type", "status"})
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_OUR_ID = re.compile(r"[a-z_]{1,20}_[0-7][0-9A-HJKMNP-TV-Z]{25}")


def redacted_json(value: Any) -> str | None:
    """`value` as canonical JSON without anything personal or secret; None stays None."""
    if value is None:
        return None
    plain = msgspec.to_builtins(value, str_keys=True)
    return msgspec.json.encode(redact_fields(plain), order="sorted").decode()


def redact_fields(value: Any) -> Any:
    """Plain JSON data with personal fields masked."""
    if isinstance(value, dict):
        return {key: _redact_field(key, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_fields(item) for item in value]
    if isinstance(value, str) and not _OUR_ID.fullmatch(value):
        return redact_text(_cut(value))
    return value


def _cut(text: str) -> str:
    # The audit tells of a change; it does not keep what was changed in full length.
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}… ({len(text)} characters)"


def _redact_field(name: str, value: Any) -> Any:
    # That something was set, cleared or switched says nothing about a person.
    if value is None or isinstance(value, bool):
        return value
    if is_personal(name) and not (isinstance(value, str) and _OUR_ID.fullmatch(value)):
        return MASK
    return redact_fields(value)


def is_personal(name: str) -> bool:
    """Whether a field of this name may hold something personal or secret."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or (len(words) > 1 and words[-1] in _HARMLESS_LAST):
        return False
    if _PERSONAL.intersection(words):
        return True
    return any(pair in _PAIRS for pair in itertools.pairwise(words))
