"""Checks the signature of a JSON Web Token against the keys of its issuer; what its claims mean is the caller's to say."""

import warnings
from typing import Any, Final

from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning

from tidings.kernel.errors import TidingsError
from tidings.kernel.token_keys import Jwks

#: Asymmetric only: with a shared-secret algorithm, a service that can check a token could also make one.
ALGORITHMS: Final = ("RS256", "ES256", "EdDSA", "Ed25519")
_KEY_TYPES: Final = {"RS256": "RSA", "ES256": "EC", "EdDSA": "OKP", "Ed25519": "OKP"}
_LONGEST: Final = 16 * 1024


class BadTokenError(TidingsError):
    """The token is none, or its signature is not right; the message says which, and nothing of the token."""


class SignedTokens:
    """Reads tokens of one issuer."""

    def __init__(self, keys: Jwks) -> None:
        self._keys = keys
        self._registry = jws.JWSRegistry(algorithms=list(ALGORITHMS))

    async def payload(self, token: str) -> bytes:
        """The claims as they were signed; a `BadTokenError` where they were not."""
        if len(token) > _LONGEST:
            raise BadTokenError("this token is too long")
        try:
            unverified = jws.extract_compact(token.encode(), registry=self._registry)
            header: dict[str, Any] = dict(unverified.headers())
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise BadTokenError("this is neither an API key nor a readable token") from error
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS:
            raise BadTokenError(f"this token's algorithm is not taken; use {', '.join(ALGORITHMS[:3])}")
        if not isinstance(kid, str) or not 0 < len(kid) <= 200:
            raise BadTokenError("this token does not name its key (kid)")
        key = await self._keys.find(kid)
        if key is None or key.key_type != _KEY_TYPES[algorithm]:
            raise BadTokenError("this token was signed with a key that is not known here")
        try:
            with warnings.catch_warnings():
                # The library warns that EdDSA has a newer name (RFC 9864); issuers go on saying EdDSA.
                warnings.simplefilter("ignore", SecurityWarning)
                return jws.deserialize_compact(token.encode(), key, registry=self._registry).payload
        except (JoseError, ValueError, TypeError, KeyError):
            raise BadTokenError("this token's signature is not right") from None
