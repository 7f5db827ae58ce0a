"""A vendor's words about an event as they may be kept: one line, not too long, without an address."""

import re

from tidings.kernel.logs import redact_text

_MOST_CHARACTERS = 300
_MOST_READ = 4000
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}")


def kept_words(text: str | None) -> str | None:
    """The reason that a vendor gave."""
    if text is None:
        return None
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:_MOST_READ]).split())
    line = redact_text(line)
    return (line if len(line) <= _MOST_CHARACTERS else f"{line[: _MOST_CHARACTERS - 1]}…") or None


def kept_code(text: str | None) -> str | None:
    """The code that a vendor gave; something that is no code is left out."""
    if text is None:
        return None
    code = text.strip()
    return code if _CODE.fullmatch(code) and redact_text(code) == code else None
