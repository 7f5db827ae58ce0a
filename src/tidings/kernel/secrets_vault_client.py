"""Speaks with HashiCorp Vault over its HTTP API: reads secrets of a KV engine (version 2), keeps the token alive.

`GET /v1/<mount>/data/<path>`, `GET /v1/auth/token/lookup-self` and `POST /v1/auth/token/renew-self`: nothing is
written there. Vault's own words are kept out of errors, because they quote paths.
"""

import asyncio
import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from tidings.kernel.clock import Clock
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.logs import get_logger
from tidings.kernel.secrets import MAX_SECRET_BYTES, Secret, SecretStoreError

#: Seconds between two attempts to renew a token that could not be renewed.
_TRY_AGAIN = 30.0
#: Seconds between two looks at a token that is not used meanwhile.
_LOOK = 60.0
_LARGEST = 2 * MAX_SECRET_BYTES

_log = get_logger("vault")


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultServer:
    """Where Vault is, and who we are there."""

    #: `https://vault.example:8200`.
    url: str
    token: Secret | None = None
    #: A file with the token, read for every request: Vault Agent writes such a file and renews what is in it.
    token_file: Path | None = None
    #: Of Vault Enterprise.
    namespace: str | None = None
    #: Trust the certificates of this file, and no others.
    ca_file: Path | None = None
    #: Seconds for one request.
    timeout: float = 5.0


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes = field(repr=False)


class VaultClient:
    """One server; any number of tasks may ask it at once."""

    def __init__(self, server: VaultServer, *, clock: Clock) -> None:
        parts = urlsplit(server.url)
        if parts.scheme not in ("https", "http") or not parts.hostname or parts.query or parts.fragment:
            raise NotConfiguredError("the address of Vault must be of the form https://host:8200")
        if (server.token is None) == (server.token_file is None):
            raise NotConfiguredError("Vault needs a token, or a file with one, and not both")
        self._server = server
        self._clock = clock
        self._base = server.url.rstrip("/")
        handlers: list[urllib.request.BaseHandler] = [_NoRedirects(), urllib.request.ProxyHandler({})]
        if parts.scheme == "https":
            handlers.append(urllib.request.HTTPSHandler(context=_context(server.ca_file)))
        self._opener = urllib.request.build_opener(*handlers)
        #: The token whose time we know.
        self._looked_up: Secret | None = None
        #: When to renew it; None where that is not for us to do.
        self._renew_at: float | None = None
        self._renewing = asyncio.Lock()

    async def read(self, mount: str, path: str) -> dict[str, Any] | None:
        """The newest version of a secret; None where there is none, or it was deleted."""
        token = await self._live_token()
        answer = await self._ask("GET", f"{mount}/data/{path}", token)
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise _refused(answer.status)
        data = _inner(_decoded(answer.body), "data").get("data")
        return data if isinstance(data, dict) else None

    async def run(self, stop: asyncio.Event) -> None:
        """Keep the token alive also where no secret is read for a long time."""
        while not await wait_for_stop(stop, _LOOK):
            try:
                await self._live_token()
            except SecretStoreError as error:
                _log.warning("vault_token_not_looked_at", reason=str(error))

    async def _live_token(self) -> Secret:
        server = self._server
        if server.token is None:
            # The program that writes the file keeps its token alive.
            return await asyncio.to_thread(self._token_of_file)
        if self._looked_up is None or self._due():
            async with self._renewing:
                if self._looked_up is None:
                    await self._look_up(server.token)
                if self._due():
                    await self._renew(server.token)
        return server.token

    def _token_of_file(self) -> Secret:
        file = self._server.token_file
        try:
            text = file.read_text(encoding="ascii").strip() if file is not None else ""
        except (OSError, UnicodeError):
            text = ""
        if not text:
            raise SecretStoreError("the file with Vault's token can't be read, or it is empty")
        return Secret(text)

    def _due(self) -> bool:
        return self._renew_at is not None and self._clock.monotonic() >= self._renew_at

    async def _look_up(self, token: Secret) -> None:
        answer = await self._ask("GET", "auth/token/lookup-self", token)
        if answer.status != 200:
            raise _refused(answer.status)
        data = _inner(_decoded(answer.body), "data")
        self._plan(data.get("ttl"), data.get("renewable"))
        self._looked_up = token

    async def _renew(self, token: Secret) -> None:
        """At half of its time. A failure leaves the other half for further attempts."""
        self._renew_at = self._clock.monotonic() + _TRY_AGAIN
        try:
            answer = await self._ask("POST", "auth/token/renew-self", token)
            auth = _inner(_decoded(answer.body), "auth") if answer.status == 200 else None
        except SecretStoreError as error:
            _log.warning("vault_token_not_renewed", reason=str(error))
            return
        if auth is None:
            _log.warning("vault_token_not_renewed", status=answer.status)
            return
        self._plan(auth.get("lease_duration"), auth.get("renewable"))

    def _plan(self, seconds: object, renewable: object) -> None:
        lives = isinstance(seconds, int) and seconds > 0
        if lives and renewable is not True:
            _log.warning("vault_token_ends", seconds=seconds)
        self._renew_at = (
            self._clock.monotonic() + seconds / 2
            if isinstance(seconds, int) and seconds > 0 and renewable is True
            else None
        )

    async def _ask(self, method: str, path: str, token: Secret) -> _Answer:
        return await asyncio.to_thread(self._ask_now, method, path, token)

    def _ask_now(self, method: str, path: str, token: Secret) -> _Answer:
        headers = {"X-Vault-Token": token.reveal(), "X-Vault-Request": "true", "Accept": "application/json"}
        if self._server.namespace:
            headers["X-Vault-Namespace"] = self._server.namespace
        request = urllib.request.Request(  # noqa: S310  # the scheme was checked when this was made
            f"{self._base}/v1/{quote(path)}",
            method=method,
            headers=headers,
            data=b"{}" if method == "POST" else None,
        )
        try:
            with self._opener.open(request, timeout=self._server.timeout) as answer:
                return _Answer(answer.status, answer.read(_LARGEST + 1))
        except urllib.error.HTTPError as error:
            with error:
                return _Answer(error.code, b"")
        except (OSError, HTTPException, ValueError) as error:
            raise SecretStoreError(_why(error)) from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token is for the server that was named, and for no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _context(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError):
        raise NotConfiguredError("the file of certificates for Vault can't be read, or is no PEM") from None


def _why(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return "Vault's certificate is not one that we trust"
    if isinstance(reason, TimeoutError):
        return "Vault did not answer in time"
    return "Vault can't be reached"


def _refused(status: int) -> SecretStoreError:
    match status:
        case 400:
            why = "Vault does not understand the request; is the mount a KV engine of version 2?"
        case 403:
            why = "Vault refuses: the token has run out, or its policy does not allow to read there"
        case 503:
            why = "Vault is sealed, or down for maintenance"
        case 301 | 302 | 307 | 308:
            why = "Vault answers with a redirect; name the address of the active node"
        case _:
            why = f"Vault answers with the status {status}"
    return SecretStoreError(why)


def _decoded(body: bytes) -> dict[str, Any]:
    if len(body) > _LARGEST:
        raise SecretStoreError("Vault's answer is too large")
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SecretStoreError("Vault's answer is not one of its API; is this its address?")
    return found


def _inner(found: dict[str, Any], name: str) -> dict[str, Any]:
    inner = found.get(name)
    return inner if isinstance(inner, dict) else {}
