"""A tenant's backend as it calls Tidings: by the public API alone, with a key. What is here can be copied."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidings.kernel.errors import NotConfiguredError

if TYPE_CHECKING:
    # Heavy (10 MB): only those who call something pay for it.
    import aiohttp

_PATIENCE_SECONDS: Final = 15.0
OK: Final = range(200, 300)


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantAccess:
    """How Tidings is reached."""

    #: Where backends and browsers find the API.
    base_url: str
    api_key: str = field(repr=False)
    #: Whether webhooks may lead to this machine.
    may_call_loopback: bool = False


class TenantApi:
    """Calls of one tenant; closed until it is told of a Tidings."""

    def __init__(self) -> None:
        self._access: TenantAccess | None = None
        self._session: aiohttp.ClientSession | None = None

    def open(self, access: TenantAccess) -> None:
        """Call this one from now on."""
        self._access = access

    @property
    def access(self) -> TenantAccess | None:
        """Where Tidings is, once it is known."""
        return self._access

    def opened(self) -> TenantAccess:
        """Where Tidings is; a `NotConfiguredError` where that is not known."""
        if self._access is None:
            raise NotConfiguredError(
                "this belongs to a Tidings; `tidings up` opens it, `tidings sandbox` alone does not"
            )
        return self._access

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """One call: the status, and the JSON of the answer."""
        import aiohttp

        access = self.opened()
        if self._session is None:
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=_PATIENCE_SECONDS),
                trust_env=False,
            )
        async with self._session.request(
            method,
            access.base_url + path,
            json=body if method == "POST" else None,
            headers={"Authorization": f"Bearer {access.api_key}"},
            allow_redirects=False,
        ) as answer:
            return answer.status, await answer.json(content_type=None)

    async def close(self) -> None:
        """End the connections."""
        if self._session is not None:
            await self._session.close()
