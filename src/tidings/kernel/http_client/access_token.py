"""The access token with which a server knows who calls (OAuth 2): asked for once for all callers, and used until it ends."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from tidings.kernel.clock import Clock
from tidings.kernel.http_client.answer import CallFailure, HttpAnswer, failure_of, wait_of
from tidings.kernel.logs import get_logger

_log = get_logger("access_token")
#: A token that ends in the midst of a set is of no use.
_MARGIN: Final = timedelta(minutes=1)
#: Where the server does not say how long it is good for.
_USUAL_SECONDS: Final = 3600
_MOST_SECONDS: Final = 24 * 3600
#: What a server says of an account that is gone, of a key or a secret that is not its own, of one that may not do this.
_REFUSALS: Final = frozenset(
    {"invalid_grant", "invalid_client", "invalid_scope", "unauthorized_client", "access_denied"}
)
_MOST_CODE: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAccessToken:
    """There is none: refused, or not to be had now."""

    #: `closed`, `late`, `answered`, the server's own word where it refuses, or why there was no answer.
    code: str
    refused: bool = False
    #: What was answered, where something was.
    status: int | None = None
    after: timedelta | None = None
    failure: CallFailure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    text: str = field(repr=False)
    good_until: datetime


class OAuthToken:
    """The newest token."""

    def __init__(self, ask: Callable[[datetime], Awaitable[HttpAnswer]], *, clock: Clock) -> None:
        """`ask` asks the server for one at a moment."""
        self._request = ask
        self._clock = clock
        self._token: _Token | None = None
        self._asking: asyncio.Task[_Token | NoAccessToken] | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is one that need not be asked for."""
        return self._token is not None and self._clock.now() < self._token.good_until

    async def get(self, *, within: float | None = None) -> str | NoAccessToken:
        """The token, or why there is none after so many seconds; nothing makes it raise."""
        token = self._token
        if token is not None and self._clock.now() < token.good_until:
            return token.text
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask(), name="access token")
            self._asking.add_done_callback(self._asked)
        # A caller that stops waiting does not stop the others.
        asking = self._asking
        done, _ = await asyncio.wait([asking], timeout=within)
        if not done:
            return NoAccessToken(code="late")
        found = NoAccessToken(code="closed") if asking.cancelled() else asking.result()
        return found.text if isinstance(found, _Token) else found

    def forget(self, text: str) -> None:
        """The server does not take it any more."""
        if self._token is not None and self._token.text == text:
            self._token = None

    async def close(self) -> None:
        """Ask no more; who waits is told so."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    def _asked(self, task: "asyncio.Task[_Token | NoAccessToken]") -> None:
        self._asking = None
        found = None if task.cancelled() else task.result()
        self._token = found if isinstance(found, _Token) else None

    async def _ask(self) -> _Token | NoAccessToken:
        now = self._clock.now()
        try:
            answer = await self._request(now)
        except asyncio.CancelledError:
            return NoAccessToken(code="closed")
        except Exception as error:  # noqa: BLE001  # whatever the server makes the library do, nothing was sent
            _log.info("no_access_token", error=type(error).__name__)
            failure = failure_of(error)
            return NoAccessToken(code=failure, failure=failure)
        return self._read(answer, now)

    def _read(self, answer: HttpAnswer, now: datetime) -> _Token | NoAccessToken:
        said = answer.json()
        text, seconds = _member(said, "access_token"), _member(said, "expires_in")
        if answer.status == 200 and isinstance(text, str) and text.isascii() and text.isprintable() and text:
            known = isinstance(seconds, int) and 0 < seconds <= _MOST_SECONDS
            lasts = timedelta(seconds=seconds if known else _USUAL_SECONDS)
            return _Token(text=text, good_until=now + max(lasts - _MARGIN, lasts / 2))
        code = _member(said, "error")
        if isinstance(code, str) and code[:_MOST_CODE] in _REFUSALS:
            return NoAccessToken(code=code[:_MOST_CODE], refused=True, status=answer.status)
        return NoAccessToken(
            code="answered", status=answer.status, after=wait_of(answer.retry_after, self._clock)
        )


def _member(said: Any, name: str) -> Any:
    return said.get(name) if isinstance(said, dict) else None
