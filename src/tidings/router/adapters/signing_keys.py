"""Private keys with which an account shows a vendor who it is, and the JWTs that they sign."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tidings.kernel.errors import BadValueError

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, RSAKey

    SigningKey: TypeAlias = ECKey | RSAKey

_CURVE: Final = "P-256"


def rsa_key(pem: str, field: str, remedy: str) -> "RSAKey":
    """The key in a PEM; a `BadValueError` with this remedy where there is none."""
    from joserfc.jwk import RSAKey

    try:
        key = RSAKey.import_key(pem)
    except Exception:  # noqa: BLE001  # whatever the library says of it, it is no key
        raise BadValueError(field, remedy) from None
    if not key.is_private:
        raise BadValueError(field, remedy)
    return key


def ec_key(pem: str, field: str, remedy: str) -> "ECKey":
    """The key on P-256 in a PEM; a `BadValueError` with this remedy where there is none."""
    from joserfc.jwk import ECKey

    try:
        key = ECKey.import_key(pem)
    except Exception:  # noqa: BLE001  # whatever the library says of it, it is no key
        raise BadValueError(field, remedy) from None
    if not key.is_private or key.curve_name != _CURVE:
        raise BadValueError(field, remedy)
    return key


def signed(header: Mapping[str, Any], claims: Mapping[str, Any], key: "SigningKey") -> str:
    """A JWT."""
    from joserfc import jwt

    return jwt.encode(dict(header), dict(claims), key)
