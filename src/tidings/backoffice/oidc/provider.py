"""The identity provider: where it asks people who they are, and whom its tokens name (code flow with PKCE)."""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from tidings.backoffice.credentials.boxes import BrowserBoxes
from tidings.backoffice.oidc.errors import OidcFailedError
from tidings.contracts.moments import Moment
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.egress import anywhere
from tidings.kernel.http_client.answer import failure_of
from tidings.kernel.http_client.pool import HttpPool, HttpRequest
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.ttl_cache import TtlCache

if TYPE_CHECKING:
    from tidings.kernel.signed_tokens import SignedTokens

T = TypeVar("T")

#: How long somebody may take at the provider.
BEGUN_FOR: Final = timedelta(minutes=10)
_PURPOSE: Final = "operator_oidc"
_LEEWAY: Final = 30
_SECONDS: Final = 8.0
_DOCUMENT_KEPT: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcClient:
    """What the provider knows us by."""

    issuer: str
    client_id: str
    #: None: a client without a secret, whom PKCE alone proves.
    client_secret: str | None = field(default=None, repr=False)
    #: What the button calls it.
    name: str
    #: Where it leads people back to.
    redirect_uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """Somebody is sent to the provider."""

    url: str = field(repr=False)
    #: What their browser holds until they come back.
    kept: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderIdentity:
    """Whom the provider names."""

    email: str = field(repr=False)


class _Document(msgspec.Struct, frozen=True):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    state: str
    nonce: str
    verifier: str
    expires_at: Moment


class _Granted(msgspec.Struct, frozen=True):
    id_token: str


class _Claims(msgspec.Struct, frozen=True):
    iss: str
    aud: str | list[str]
    exp: float
    iat: float
    sub: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    nonce: str | None = None
    azp: str | None = None
    email: Annotated[str, msgspec.Meta(max_length=254)] | None = None
    # Some providers write it as a text.
    email_verified: bool | str = False


class IdentityProvider:
    """Talks to the one that the settings name; whoever runs Tidings has chosen its address."""

    def __init__(self, client: OidcClient | None, db: Database, keyring: Keyring, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._boxes = BrowserBoxes(db, keyring, _PURPOSE)
        self._documents: TtlCache[str, _Document] = TtlCache(clock=clock, ttl=_DOCUMENT_KEPT, size=1)
        self._tokens: dict[str, SignedTokens] = {}
        self._pool = HttpPool(guard=anywhere, connections=8, connect_seconds=3.0, timeout_seconds=_SECONDS)

    @property
    def name(self) -> str | None:
        """What the button calls it; None where none is set."""
        return self._client.name if self._client else None

    async def begin(self) -> Begun:
        """Where to send somebody, and what their browser keeps meanwhile."""
        client = self._set()
        document = await self._document(client)
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        asked = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": client.redirect_uri,
            "scope": "openid email",
            "state": state,
            "nonce": nonce,
            "code_challenge": _challenge(verifier),
            "code_challenge_method": "S256",
        }
        kept = _Kept(state, nonce, verifier, self._clock.now() + BEGUN_FOR)
        between = "&" if "?" in document.authorization_endpoint else "?"
        return Begun(
            url=f"{document.authorization_endpoint}{between}{urlencode(asked)}",
            kept=await self._boxes.seal(msgspec.msgpack.encode(kept)),
        )

    async def finish(self, kept: str | None, *, state: str, code: str) -> ProviderIdentity:
        """Whom the provider names, for the browser that began here."""
        client = self._set()
        begun = await self._begun(kept, state)
        if not code:
            raise OidcFailedError("refused")
        document = await self._document(client)
        claims = await self._claims(document, await self._redeem(client, document, code, begun))
        self._check(client, claims, begun)
        if claims.email is None or str(claims.email_verified).lower() != "true":
            raise OidcFailedError("mail")
        return ProviderIdentity(email=claims.email)

    async def close(self) -> None:
        """End its connections."""
        await self._pool.close()

    def _set(self) -> OidcClient:
        if self._client is None:
            raise OidcFailedError("state")
        return self._client

    async def _begun(self, kept: str | None, state: str) -> _Kept:
        content = await self._boxes.open(kept) if kept else None
        if content is None:
            raise OidcFailedError("state")
        begun = msgspec.msgpack.decode(content, type=_Kept)
        if begun.expires_at <= self._clock.now() or not hmac.compare_digest(
            begun.state.encode(), state.encode()
        ):
            raise OidcFailedError("state")
        return begun

    async def _document(self, client: OidcClient) -> _Document:
        known = self._documents.get(client.issuer)
        if known is not None:
            return known
        url = f"{client.issuer.rstrip('/')}/.well-known/openid-configuration"
        found = await self._ask(HttpRequest(method="GET", url=url), _Document)
        if found.issuer != client.issuer:
            raise OidcFailedError("away")
        self._documents.put(client.issuer, found)
        return found

    async def _redeem(self, client: OidcClient, document: _Document, code: str, begun: _Kept) -> str:
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": client.redirect_uri,
            "client_id": client.client_id,
            "code_verifier": begun.verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if client.client_secret is not None:
            pair = f"{quote(client.client_id, safe='')}:{quote(client.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        body = urlencode(fields).encode()
        request = HttpRequest(url=document.token_endpoint, headers=headers, body=body)
        return (await self._ask(request, _Granted)).id_token

    async def _ask(self, request: HttpRequest, kind: type[T]) -> T:
        try:
            answer = await self._pool.ask(request)
        except Exception as error:
            if failure_of(error) == "unknown":
                raise
            raise OidcFailedError("away") from None
        if answer.status >= 400:
            raise OidcFailedError("refused" if answer.status < 500 else "away")
        try:
            return msgspec.json.decode(answer.content, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise OidcFailedError("away") from None

    async def _claims(self, document: _Document, token: str) -> _Claims:
        # Imported with the first sign-in: the library is a tenth of a second of every start.
        from tidings.kernel.signed_tokens import BadTokenError, SignedTokens
        from tidings.kernel.token_keys import Jwks, KeysUnavailableError

        tokens = self._tokens.get(document.jwks_uri)
        if tokens is None:
            tokens = SignedTokens(Jwks(document.jwks_uri, clock=self._clock))
            self._tokens = {document.jwks_uri: tokens}
        try:
            return msgspec.json.decode(await tokens.payload(token), type=_Claims)
        except KeysUnavailableError:
            raise OidcFailedError("away") from None
        except (BadTokenError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise OidcFailedError("token") from None

    def _check(self, client: OidcClient, claims: _Claims, begun: _Kept) -> None:
        now = self._clock.now().timestamp()
        audiences = [claims.aud] if isinstance(claims.aud, str) else claims.aud
        right = (
            claims.iss == client.issuer
            and client.client_id in audiences
            and (len(audiences) == 1 or claims.azp == client.client_id)
            and now < claims.exp + _LEEWAY
            and claims.iat < now + _LEEWAY
            and hmac.compare_digest((claims.nonce or "").encode(), begun.nonce.encode())
        )
        if not right:
            raise OidcFailedError("token")


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
