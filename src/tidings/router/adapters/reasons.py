"""A vendor's words as they may be kept: without the person's address, without what was said, not too long."""

import re

from tidings.contracts.messages import OutboundMessage
from tidings.kernel.logs import redact_text

MOST_CHARACTERS = 300
#: Far more than is kept is not looked at.
_MOST_READ = 4000
#: Shorter words would be found in everything.
_SHORTEST = 3


def clean(text: str, message: OutboundMessage) -> str:
    """One line without control characters, and without anything personal of the message."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:_MOST_READ]).split())
    private = {message.to, message.to.rpartition("@")[0], message.to_name or "", message.subject or ""}
    # The longest first: the whole address before its first half.
    words = sorted((word for word in private if len(word) >= _SHORTEST), key=len, reverse=True)
    if words:
        line = re.sub("|".join(map(re.escape, words)), "…", line, flags=re.IGNORECASE)
    line = redact_text(line)
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"
