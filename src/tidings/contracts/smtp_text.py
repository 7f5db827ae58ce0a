"""What a server of SMTP or LMTP reads and writes, as text: paths, the end of a message, dots, answers of several lines."""

import re
from collections.abc import Sequence
from typing import Final

#: `FROM:<a@b.example> SIZE=1000`: the path, and what follows.
PATH: Final = re.compile(rb"(?:FROM|TO):\s*<([^<>\r\n]*)>(.*)", re.IGNORECASE)
#: What ends a message.
END: Final = b"\r\n.\r\n"


def without_dots(raw: bytes) -> bytes:
    """A message without the dots that were put before the dots at the beginnings of its lines (RFC 5321, 4.5.2)."""
    if b"\n.." in raw or raw.startswith(b".."):
        return (b"\r\n" + raw).replace(b"\r\n..", b"\r\n.")[2:]
    return raw


def several_lines(code: int, lines: Sequence[str]) -> bytes:
    """One answer of several lines."""
    marks = ["-"] * (len(lines) - 1) + [" "]
    return "".join(f"{code}{mark}{line}\r\n" for mark, line in zip(marks, lines, strict=True)).encode()
