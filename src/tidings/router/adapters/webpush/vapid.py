"""Who sends, told to push services of browsers (VAPID, RFC 8292): one signed token for each of them."""

import base64
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.signing_keys import ec_key, signed
from tidings.router.adapters.webpush.subscription import decode64

if TYPE_CHECKING:
    from joserfc.jwk import ECKey

_REMEDY: Final = "must be a private key of P-256: 32 bytes in base64url, as tools for VAPID write it, or PEM"
#: A push service takes no token that lasts more than a day.
_LASTS: Final = timedelta(hours=12)
#: What is left of one that is still used.
_LEAST: Final = timedelta(hours=1)
#: Endpoints are named by browsers, so there can be any number of services.
_MOST: Final = 256
_RAW: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class VapidKey:
    """What signs."""

    key: "ECKey" = field(repr=False)
    #: As browsers are told it when they subscribe: a point of P-256 in base64url.
    public: str


def read_vapid_key(text: str, field_name: str) -> VapidKey:
    """The key; a `BadValueError` where it is none."""
    try:
        found = _read(text.strip())
    except (ValueError, TypeError):
        raise BadValueError(field_name, _REMEDY) from None
    if not isinstance(found, ec.EllipticCurvePrivateKey) or not isinstance(found.curve, ec.SECP256R1):
        raise BadValueError(field_name, _REMEDY)
    pem = found.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    point = found.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return VapidKey(
        key=ec_key(pem, field_name, _REMEDY), public=base64.urlsafe_b64encode(point).rstrip(b"=").decode()
    )


def _read(text: str) -> object:
    if text.startswith("-----"):
        return load_pem_private_key(text.encode(), password=None)
    raw = decode64(text)
    if len(raw) != _RAW:
        raise ValueError("not 32 bytes")
    return ec.derive_private_key(int.from_bytes(raw, "big"), ec.SECP256R1())


class Vapid:
    """Makes the header for each push service, and remembers it."""

    def __init__(self, key: VapidKey, subject: str, *, clock: Clock) -> None:
        """`subject`: the contact for an operator of a push service, `mailto:` or `https:`."""
        self._key = key
        self._subject = subject
        self._clock = clock
        self._known: OrderedDict[str, tuple[datetime, str]] = OrderedDict()

    def authorization(self, origin: str) -> str:
        """What stands in `Authorization` for the push service there."""
        now = self._clock.now()
        known = self._known.get(origin)
        if known is not None and now < known[0]:
            self._known.move_to_end(origin)
            return known[1]
        ends = now + _LASTS
        claims = {"aud": origin, "exp": int(ends.timestamp()), "sub": self._subject}
        token = signed({"typ": "JWT", "alg": "ES256"}, claims, self._key.key)
        header = f"vapid t={token}, k={self._key.public}"
        self._known[origin] = (ends - _LEAST, header)
        self._known.move_to_end(origin)
        if len(self._known) > _MOST:
            self._known.popitem(last=False)
        return header
