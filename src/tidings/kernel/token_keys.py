"""Keeps the public keys that tokens are signed with, from an address or a file."""

import asyncio
import json
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from tidings.kernel.clock import Clock
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import UnavailableError

PublicKey = RSAKey | ECKey | OKPKey

_KINDS: dict[str, type[PublicKey]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
_SMALLEST_RSA_BITS = 2048
_LARGEST = 512 * 1024
_log = get_logger("access")


class KeysUnavailableError(UnavailableError):
    """The keys that tokens are checked with can't be read right now; an API key works, or try again."""

    code = "token_keys_unavailable"


class Jwks:
    """The key set at a URL (`https://…` or `file://…`), cached, and read anew when a token names an unknown key."""

    def __init__(
        self,
        url: str,
        *,
        clock: Clock,
        fresh_seconds: float = 3600,
        least_seconds_between: float = 10,
        timeout: float = 5,
    ) -> None:
        if urlsplit(url).scheme not in ("https", "http", "file"):
            raise NotConfiguredError(
                "the address of the token keys must begin with https://, http:// or file://"
            )
        self._url = url
        self._clock = clock
        self._fresh = fresh_seconds
        #: A flood of tokens with made-up key ids must not become a flood of fetches.
        self._least_between = least_seconds_between
        self._timeout = timeout
        self._keys: dict[str, PublicKey] = {}
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._reading = asyncio.Lock()

    async def find(self, kid: str) -> PublicKey | None:
        """The key of that id; None where the set, read anew if need be, has none."""
        if kid not in self._keys or self._stale():
            async with self._reading:
                if kid not in self._keys or self._stale():
                    await self._refresh()
        if self._read_at is None:
            raise KeysUnavailableError
        return self._keys.get(kid)

    def _stale(self) -> bool:
        return self._read_at is None or self._clock.monotonic() - self._read_at > self._fresh

    async def _refresh(self) -> None:
        now = self._clock.monotonic()
        if self._tried_at is not None and now - self._tried_at < self._least_between:
            return
        self._tried_at = now
        try:
            keys = _public_keys(json.loads(await asyncio.to_thread(self._read)))
        except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError, JoseError) as error:
            # The keys known so far go on working; a provider's bad minute is not ours.
            _log.warning("token_keys_not_read", error=type(error).__name__)
            return
        self._keys, self._read_at = keys, now

    def _read(self) -> bytes:
        parts = urlsplit(self._url)
        if parts.scheme == "file":
            return Path(url2pathname(parts.path)).read_bytes()
        opener = urllib.request.build_opener(_NoRedirect)
        with opener.open(self._url, timeout=self._timeout) as answer:
            body: bytes = answer.read(_LARGEST + 1)
        if len(body) > _LARGEST:
            raise ValueError("the key set is too large")
        return body


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The address is pinned; it does not lead elsewhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _public_keys(document: dict[str, Any]) -> dict[str, PublicKey]:
    """Asymmetric signing keys with an id; a shared secret in a public set is a trap, and left out."""
    found: dict[str, PublicKey] = {}
    for published in document["keys"]:
        kind = _KINDS.get(published.get("kty"))
        kid = published.get("kid")
        if kind is None or not isinstance(kid, str) or published.get("use", "sig") != "sig":
            continue
        key = kind.import_key(published)
        if isinstance(key, RSAKey) and key.public_key.key_size < _SMALLEST_RSA_BITS:
            continue
        found[kid] = key
    if not found:
        raise ValueError("the key set has no public signing key with a kid")
    return found
