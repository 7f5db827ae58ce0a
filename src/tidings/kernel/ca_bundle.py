"""Which certificates a connection trusts: the system's, those of one file, or those of the settings."""

import os
import ssl
import stat
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from tidings.kernel.errors import BadValueError

#: A bundle of all public authorities has about a fifth of it.
_MOST_BYTES: Final = 1024 * 1024
_BY_REFERENCE: Final = "certificates that are kept with the secrets are named by ca_pem_ref"


#: Certificates in PEM, as one text; by reference as `ca_pem_ref`.
CaPem: TypeAlias = Annotated[str, Meta(min_length=1, max_length=_MOST_BYTES)]


def trusting(ca_file: str | None, ca_pem: str | None = None) -> ssl.SSLContext:
    """For a client; a `BadValueError` where the file, or the text, holds no certificates."""
    if ca_file is not None and ca_pem is not None:
        raise BadValueError("ca_file", "and ca_pem say the same thing twice: leave one of them out")
    if ca_pem is not None:
        return _context(ca_pem)
    if ca_file is not None and "://" in ca_file:
        raise BadValueError("ca_file", f"must be a path and not a reference: {_BY_REFERENCE}")
    try:
        return ssl.create_default_context(cadata=None if ca_file is None else _certificates(Path(ca_file)))
    except (OSError, ValueError):
        raise BadValueError(
            "ca_file",
            "must be the path of a file of certificates in PEM that every process that sends can read; "
            + _BY_REFERENCE,
        ) from None


def show_certificate(context: ssl.SSLContext, cert: str | None, key: str | None) -> None:
    """Have a client show this certificate to servers that ask for one; both in PEM."""
    for name, given in (("client_cert", cert), ("client_key", key)):
        if given is None:
            raise BadValueError(name, "is needed as well: a certificate and its private key go together")
    # The library reads files only: this one is private to the process, and in memory.
    descriptor = os.memfd_create("client_cert", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, f"{cert}\n{key}\n".encode("ascii", "ignore"))
        # Without an answer it would ask for a passphrase at the terminal.
        context.load_cert_chain(f"/proc/self/fd/{descriptor}", password=lambda: "")
    except (OSError, ValueError):
        raise BadValueError(
            "client_cert",
            "must be a certificate in PEM, and client_key its private key in PEM without a passphrase",
        ) from None
    finally:
        os.close(descriptor)


def _context(ca_pem: str) -> ssl.SSLContext:
    try:
        # Nothing at all would be taken for "the system's".
        return ssl.create_default_context(cadata=ca_pem.encode("ascii", "ignore").decode().strip() or "none")
    except (OSError, ValueError):
        raise BadValueError("ca_pem", "must hold certificates in PEM") from None


def _certificates(file: Path) -> str:
    """What the file holds. The settings say which: no task waits for a pipe or a device, nor reads without end."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError
        content = opened.read(_MOST_BYTES + 1)
    # Nothing at all would be taken for "the system's".
    if not content.strip() or len(content) > _MOST_BYTES:
        raise ValueError
    return content.decode("ascii", "ignore")
