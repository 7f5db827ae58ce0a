"""Whose certificates a connection trusts: the system's, or those of one file."""

import os
import ssl
import stat
from pathlib import Path
from typing import Final

from tidings.kernel.errors import BadValueError

#: A bundle of all public authorities has about a fifth of it.
_MOST_BYTES: Final = 1024 * 1024


def trusting(ca_file: str | None) -> ssl.SSLContext:
    """For a client; a `BadValueError` where the file holds no certificates."""
    try:
        return ssl.create_default_context(cadata=None if ca_file is None else _certificates(Path(ca_file)))
    except (OSError, ValueError):
        raise BadValueError("ca_file", "must be a file of certificates in PEM that can be read") from None


def _certificates(file: Path) -> str:
    """What the file holds. The settings say which: nobody waits for a pipe or a device, nor reads without end."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError
        content = opened.read(_MOST_BYTES + 1)
    # Nothing at all would be taken for "the system's".
    if not content.strip() or len(content) > _MOST_BYTES:
        raise ValueError
    return content.decode("ascii", "ignore")
