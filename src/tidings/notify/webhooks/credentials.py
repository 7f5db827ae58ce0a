"""How Tidings proves itself to an endpoint beyond the signature: a client certificate (mTLS), an OAuth 2 access token.

Contexts and tokens are kept for as long as a webhook stays as it is.
"""

import base64
import ssl
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from tidings.kernel.ca_bundle import show_certificate, trusting
from tidings.kernel.clock import Clock
from tidings.kernel.egress import Guard, public_only
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.access_token import OAuthToken
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpPool, HttpRequest
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.refusals import FieldError
from tidings.kernel.signed_webhooks.call import WebhookResult

_PURPOSE: Final = "credentials"
#: Webhooks whose contexts and tokens are kept; the one that was not used for longest makes room.
_MOST_KEPT: Final = 2_000


class WebhookTls(Struct, frozen=True, kw_only=True):
    """Certificates, in PEM."""

    #: What is shown to the endpoint, and its private key.
    client_certificate: str | None = None
    client_key: str | None = None
    #: Whose certificates the endpoint's must be from; None: the system's.
    ca_certificates: str | None = None

    def __repr__(self) -> str:
        return "WebhookTls(***)"


class WebhookOAuth(Struct, frozen=True, kw_only=True):
    """Client credentials."""

    token_url: str
    client_id: str
    client_secret: str
    scope: str | None = None

    def __repr__(self) -> str:
        return f"WebhookOAuth({self.client_id}, ***)"


class WebhookCredentials(Struct, frozen=True, kw_only=True):
    """All of them."""

    tls: WebhookTls | None = None
    oauth2: WebhookOAuth | None = None

    def shown(self) -> dict[str, Any]:
        """What of them may be shown and kept in the open."""
        oauth2 = self.oauth2
        return {
            "tls": None
            if self.tls is None
            else {
                "client_certificate": self.tls.client_certificate is not None,
                "ca_certificates": self.tls.ca_certificates is not None,
            },
            "oauth2": None
            if oauth2 is None
            else {"token_url": oauth2.token_url, "client_id": oauth2.client_id, "scope": oauth2.scope},
        }

    def __repr__(self) -> str:
        return "WebhookCredentials(***)"


_decode = msgspec.json.Decoder(WebhookCredentials).decode


def seal_credentials(key: DataKey, credentials: WebhookCredentials) -> bytes | None:
    """As they are stored; None where there are none."""
    if credentials.tls is None and credentials.oauth2 is None:
        return None
    return key.seal(msgspec.json.encode(credentials), _PURPOSE)


def wrong_tls(tls: WebhookTls | None) -> list[FieldError]:
    """Certificates that can't be used."""
    if tls is None:
        return []
    try:
        _context(tls)
    except BadValueError as error:
        names = {"client_cert": "client_certificate", "ca_pem": "ca_certificates"}
        remedy = error.remedy.replace("client_key", "credentials.tls.client_key")
        return [FieldError(f"credentials.tls.{names.get(error.field, error.field)}", remedy)]
    return []


def _context(tls: WebhookTls) -> ssl.SSLContext:
    context = trusting(None, tls.ca_certificates)
    if tls.client_certificate is not None or tls.client_key is not None:
        show_certificate(context, tls.client_certificate, tls.client_key)
    return context


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCredentials:
    """What a call needs."""

    context: ssl.SSLContext | None = None
    #: Beside the others.
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    #: Why there is no calling now.
    failure: WebhookResult | None = None


NO_CREDENTIALS: Final = ReadyCredentials()


@dataclass(slots=True, eq=False, repr=False)
class _Kept:
    """Of one webhook, as it stands."""

    context: ssl.SSLContext | None
    token: OAuthToken | None


class WebhookCredentialKeeper:
    """Makes credentials ready, and keeps what was made."""

    def __init__(self, *, clock: Clock, guard: Guard = public_only) -> None:
        self._clock = clock
        self._pool = HttpPool(
            guard=guard, connections=64, connect_seconds=5.0, timeout_seconds=10.0, names_apart=True
        )
        #: By the sealed form: whatever changes is another one.
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()

    async def ready(self, key: DataKey, sealed: bytes | None) -> ReadyCredentials:
        """What calls of a webhook need now."""
        if sealed is None:
            return NO_CREDENTIALS
        kept = self._kept.get(sealed)
        if kept is None:
            kept = self._make(_decode(key.unseal(sealed, _PURPOSE)))
            self._kept[sealed] = kept
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(sealed)
        if kept.token is None:
            return ReadyCredentials(context=kept.context)
        token = await kept.token.get(within=10.0)
        if isinstance(token, str):
            return ReadyCredentials(context=kept.context, headers={"Authorization": f"Bearer {token}"})
        return ReadyCredentials(
            failure=WebhookResult(delivered=False, status=token.status, reason="token", after=token.after)
        )

    def refused(self, sealed: bytes | None, ready: ReadyCredentials) -> None:
        """The endpoint did not take them: a token is asked for anew."""
        kept = None if sealed is None else self._kept.get(sealed)
        if kept is not None and kept.token is not None:
            kept.token.forget(ready.headers.get("Authorization", "").removeprefix("Bearer "))

    async def close(self) -> None:
        """Ask for no more tokens."""
        for kept in self._kept.values():
            if kept.token is not None:
                await kept.token.close()
        await self._pool.close()

    def _make(self, credentials: WebhookCredentials) -> _Kept:
        oauth2 = credentials.oauth2
        token: OAuthToken | None = None
        if oauth2 is not None:

            async def ask(_: datetime, oauth2: WebhookOAuth = oauth2) -> HttpAnswer:
                return await self._pool.ask(_token_request(oauth2))

            token = OAuthToken(ask, clock=self._clock)
        return _Kept(None if credentials.tls is None else _context(credentials.tls), token)


def _token_request(oauth2: WebhookOAuth) -> HttpRequest:
    """RFC 6749 §4.4, with the secret where §2.3.1 wants it."""
    form = {"grant_type": "client_credentials"} | ({"scope": oauth2.scope} if oauth2.scope else {})
    login = f"{quote(oauth2.client_id, safe='')}:{quote(oauth2.client_secret, safe='')}"
    return HttpRequest(
        url=oauth2.token_url,
        headers={
            "Authorization": "Basic " + base64.b64encode(login.encode()).decode(),
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
        },
        body=urlencode(form).encode(),
    )
