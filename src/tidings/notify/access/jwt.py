"""Knows callers by a signed token: issuer and audience pinned, few algorithms, short life.

| claim       | must be                                                                     |
|-------------|-----------------------------------------------------------------------------|
| `iss` `aud` | the ones in the settings                                                    |
| `exp`       | in the future; `nbf` and `iat`, where given, in the past; with some leeway  |
| `sub`       | who it is, up to 200 printable characters                                   |
| `role`      | one of our roles                                                            |
| `tenant_id` | the tenant, for `tenant.*` roles; absent for `platform.*` roles             |
| `scope`     | scopes with spaces between; absent: all that the role can hold              |
| `environment` | `live` or `test`; absent: live                                            |
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

import msgspec

from tidings.contracts.scopes import ROLE_SCOPES, effective_scopes, is_platform_role
from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TENANT
from tidings.kernel.refusals import UnauthenticatedError
from tidings.kernel.signed_tokens import BadTokenError, SignedTokens
from tidings.kernel.token_keys import Jwks


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtSettings:
    """The issuer that tokens are taken from."""

    issuer: str
    audience: str
    #: How far the issuer's clock may be off.
    leeway_seconds: float = 30


class _Claims(msgspec.Struct, frozen=True, kw_only=True):
    iss: str
    aud: str | list[str]
    exp: float
    sub: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    role: CallerRole
    nbf: float | None = None
    iat: float | None = None
    tenant_id: str | None = None
    scope: str | None = None
    environment: Literal["live", "test"] = "live"


_read_claims = msgspec.json.Decoder(_Claims).decode


class JwtAuthenticator:
    """Checks tokens against a key set."""

    def __init__(self, keys: Jwks, *, settings: JwtSettings, clock: Clock) -> None:
        self._tokens = SignedTokens(keys)
        self._settings = settings
        self._clock = clock

    async def authenticate(self, credential: str) -> Caller:
        """The caller with this token."""
        try:
            payload = await self._tokens.payload(credential)
        except BadTokenError as error:
            raise UnauthenticatedError(str(error)) from error
        try:
            claims = _read_claims(payload)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UnauthenticatedError(
                f"this token's claims are not as they must be: {_without_value(error)}"
            ) from None
        self._check(claims, self._clock.now())
        return _caller(claims)

    def _check(self, claims: _Claims, now: datetime) -> None:
        seconds, leeway = now.timestamp(), self._settings.leeway_seconds
        audiences = [claims.aud] if isinstance(claims.aud, str) else claims.aud
        if claims.iss != self._settings.issuer:
            raise UnauthenticatedError("this token is from another issuer")
        if self._settings.audience not in audiences:
            raise UnauthenticatedError("this token is for another audience")
        if not seconds < claims.exp + leeway:
            raise UnauthenticatedError("this token has expired")
        if any(at is not None and at > seconds + leeway for at in (claims.nbf, claims.iat)):
            raise UnauthenticatedError("this token is not valid yet")


def _caller(claims: _Claims) -> Caller:
    if not claims.sub.isprintable():
        raise UnauthenticatedError("this token's sub has characters that can't be printed")
    if is_platform_role(claims.role) is not (claims.tenant_id is None):
        raise UnauthenticatedError("this token's role and tenant_id do not go together")
    try:
        home = None if claims.tenant_id is None else TENANT.parse(claims.tenant_id, field="tenant_id")
    except BadValueError as error:
        raise UnauthenticatedError(f"this token's {error.field} {error.remedy}") from None
    given = ROLE_SCOPES[claims.role] if claims.scope is None else frozenset(claims.scope.split())
    return Caller(
        kind="jwt",
        id=claims.sub,
        home=home,
        role=claims.role,
        scopes=effective_scopes(claims.role, given),
        environment=claims.environment,
    )


def _without_value(error: Exception) -> str:
    # "Invalid enum value 'x'" quotes what was sent; the place is enough.
    return str(error).rpartition(" - at ")[2].strip("`$.") or "not an object"
