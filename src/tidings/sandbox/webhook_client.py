"""Makes the vendors' requests to their hooks, over HTTP."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from tidings.kernel.logs import get_logger
from tidings.sandbox.dialects.dialect import WebhookRequest

if TYPE_CHECKING:
    # Heavy (10 MB): only those who tell something pay for it.
    import aiohttp

#: Makes a request; the status of the answer.
Post: TypeAlias = Callable[[WebhookRequest], Awaitable[int]]

_PATIENCE_SECONDS: Final = 15.0
_log = get_logger("sandbox")


class WebhookClient:
    """One pool of connections to all hooks."""

    def __init__(self, post: Post | None = None) -> None:
        """`post` makes the requests, where that is not HTTP."""
        self._post = post or self._over_http
        self._session: aiohttp.ClientSession | None = None

    async def tell(self, calls: Sequence[WebhookRequest], vendor: str) -> int:
        """What the hook said to the last, or to the first that it did not take; 0 for nothing."""
        answer = 0
        for call in calls:
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    answer = await self._post(call)
            except Exception as error:  # noqa: BLE001  # whatever is behind the hook, the others get theirs
                _log.info("sandbox.hook_unanswered", vendor=vendor, error=type(error).__name__)
                return 0
            if not 200 <= answer < 300:
                break
        return answer

    async def close(self) -> None:
        """End all connections."""
        if self._session is not None:
            await self._session.close()

    async def _over_http(self, call: WebhookRequest) -> int:
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": "tidings-sandbox"},
                trust_env=False,
            )
        async with self._session.request(
            call.method, call.url, data=call.body, headers=call.headers, allow_redirects=False
        ) as response:
            return response.status
