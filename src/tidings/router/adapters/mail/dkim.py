"""Signs mails (RFC 6376, RFC 8463): rsa-sha256 and ed25519-sha256, relaxed in headers and body.

From stands twice among the signed fields, so that no second one can be added; List-Unsubscribe and its Post are
signed because RFC 8058 asks for it.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from tidings.kernel.errors import BadValueError
from tidings.kernel.secrets import Secret
from tidings.kernel.urls import normalise_host
from tidings.router.adapters.mail.mime import Mail

#: Signed where they are present.
SIGNED = [
    "from",
    "reply-to",
    "to",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "list-unsubscribe",
    "list-unsubscribe-post",
    "auto-submitted",
]
_SELECTOR = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*")
_SPACES = re.compile(r"[ \t]+")
_BODY_SPACES = re.compile(rb"[ \t]+")
_SPACES_AT_END = re.compile(rb"[ \t]+\r\n")
_UNTIDY = re.compile(rb"[ \t](?:[ \t]|\r\n)|\t")
_WEAKEST_RSA = 1024


class DkimSigner:
    """Signs for one domain with one key."""

    def __init__(self, *, domain: str, selector: str, key: Secret, field: str = "dkim") -> None:
        host = normalise_host(domain)
        if host is None:
            raise BadValueError(f"{field}.domain", "must be a domain such as example.org")
        if not _SELECTOR.fullmatch(selector):
            raise BadValueError(f"{field}.selector", "must be a DNS label such as s1")
        self.domain = host
        self.selector = selector
        self._key = _read_key(key, f"{field}.key_ref")
        self._algorithm = "rsa-sha256" if isinstance(self._key, RSAPrivateKey) else "ed25519-sha256"

    def signs_for(self, domain: str) -> bool:
        """Whether a mail from there may carry this signature: its own domain, or one below it."""
        return domain == self.domain or domain.endswith(f".{self.domain}")

    def sign(self, mail: Mail, *, at: datetime) -> str:
        """The DKIM-Signature field that goes on top of the mail."""
        names, signed = _signed_fields(mail.fields)
        body_hash = base64.b64encode(hashlib.sha256(_relaxed_body(mail.body)).digest()).decode("ascii")
        unsigned = (
            f"DKIM-Signature: v=1; a={self._algorithm}; c=relaxed/relaxed; d={self.domain};\r\n"
            f" s={self.selector}; t={int(at.timestamp())};\r\n"
            f" h={_folded_names(names)};\r\n"
            f" bh={body_hash};\r\n b="
        )
        to_sign = "".join((*signed, _relaxed_field(unsigned).removesuffix("\r\n"))).encode()
        signature = base64.b64encode(self._sign(to_sign)).decode("ascii")
        lines = "\r\n ".join(signature[i : i + 72] for i in range(0, len(signature), 72))
        return f"{unsigned}{lines}\r\n"

    def _sign(self, data: bytes) -> bytes:
        if isinstance(self._key, RSAPrivateKey):
            return self._key.sign(data, padding.PKCS1v15(), hashes.SHA256())
        # RFC 8463, 3: what is signed is the hash, not the text.
        return self._key.sign(hashlib.sha256(data).digest())


def _read_key(key: Secret, field: str) -> RSAPrivateKey | Ed25519PrivateKey:
    try:
        read = load_pem_private_key(key.reveal().encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        read = None
    if isinstance(read, RSAPrivateKey) and read.key_size >= _WEAKEST_RSA:
        return read
    if isinstance(read, Ed25519PrivateKey):
        return read
    raise BadValueError(
        field,
        f"must lead to a private key in PEM without a password: Ed25519, or RSA of at least {_WEAKEST_RSA} bits",
    )


def _signed_fields(blocks: Sequence[str]) -> tuple[list[str], list[str]]:
    """Which fields are signed, in order, and each as it is signed."""
    present: dict[str, str] = {}
    for block in blocks:
        for field in _whole_fields(block):
            present[field.partition(":")[0].lower()] = field
    names = [name for name in SIGNED if name in present]
    return ["from", *names], [_relaxed_field(present[name]) for name in names]


def _whole_fields(block: str) -> list[str]:
    """A block of fields, one by one: a line that begins with a space belongs to the one before."""
    return re.split(r"(?<=\r\n)(?![ \t])", block)[:-1]


def _relaxed_field(field: str) -> str:
    name, _, value = field.partition(":")
    return f"{name.lower()}:{_SPACES.sub(' ', value.replace(chr(13) + chr(10), '')).strip(' ')}\r\n"


def _relaxed_body(body: bytes) -> bytes:
    # Ours has nothing to tidy up, apart from a file name here and there.
    if _UNTIDY.search(body):
        body = _BODY_SPACES.sub(b" ", _SPACES_AT_END.sub(b"\r\n", body))
    while body.endswith(b"\r\n\r\n"):
        body = body[:-2]
    return b"" if body == b"\r\n" else body


def _folded_names(names: Sequence[str]) -> str:
    half = (len(names) + 1) // 2
    return ":".join(names[:half]) + ":\r\n  " + ":".join(names[half:])


#: The keys that sign a tenant's mail from a domain; none: it goes out unsigned.
FindSigners: TypeAlias = Callable[[str, str], Sequence[DkimSigner]]
