"""The access token with which a vendor knows an account (OAuth 2): asked for once for all callers, and used until it ends."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from tidings.contracts.messages import Outcome, Refused, TryLater, Unlearned
from tidings.kernel.clock import Clock
from tidings.kernel.http_client.answer import HttpAnswer, wait_of
from tidings.kernel.http_client.pool import HttpRequest
from tidings.kernel.logs import get_logger
from tidings.router.adapters.http_client.answers import at, outcome_of_failure, text_at
from tidings.router.adapters.http_client.sender import HttpSender

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
CLOSED: Final = TryLater(reason="the adapter is closed", code="closed")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    text: str = field(repr=False)
    good_until: datetime


#: There is no token: refused, or not to be had now.
NoToken: TypeAlias = Refused | TryLater


class AccessToken:
    """The newest token."""

    def __init__(
        self, request: Callable[[datetime], HttpRequest], sender: HttpSender, *, refused: str, clock: Clock
    ) -> None:
        """`request` asks for one at a moment; `refused` says what it means that the server gives none."""
        self._request = request
        self._sender = sender
        self._refused = refused
        self._clock = clock
        self._token: _Token | None = None
        self._asking: asyncio.Task[_Token | NoToken] | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is one that need not be asked for."""
        return self._token is not None and self._clock.now() < self._token.good_until

    async def get(self, *, within: float | None = None) -> str | NoToken:
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
            return TryLater(reason="no access token came in time", code="token")
        found = CLOSED if asking.cancelled() else asking.result()
        return found.text if isinstance(found, _Token) else found

    def forget(self, text: str) -> None:
        """The vendor does not take it any more."""
        if self._token is not None and self._token.text == text:
            self._token = None

    async def close(self) -> None:
        """Ask no more; who waits is told so."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    def _asked(self, task: asyncio.Task[_Token | NoToken]) -> None:
        self._asking = None
        found = None if task.cancelled() else task.result()
        self._token = found if isinstance(found, _Token) else None

    async def _ask(self) -> _Token | NoToken:
        now = self._clock.now()
        try:
            answer = await self._sender.call(self._request(now))
        except asyncio.CancelledError:
            return CLOSED
        except Exception as error:  # noqa: BLE001  # whatever the server makes the library do, nothing was sent
            _log.info("no_access_token", error=type(error).__name__)
            return _certain(outcome_of_failure(error))
        return self._read(answer, now)

    def _read(self, answer: HttpAnswer, now: datetime) -> _Token | NoToken:
        said = answer.json()
        text, seconds = at(said, "access_token"), at(said, "expires_in")
        if answer.status == 200 and isinstance(text, str) and text.isascii() and text.isprintable() and text:
            known = isinstance(seconds, int) and 0 < seconds <= _MOST_SECONDS
            lasts = timedelta(seconds=seconds if known else _USUAL_SECONDS)
            return _Token(text=text, good_until=now + max(lasts - _MARGIN, lasts / 2))
        code = (text_at(said, "error") or "")[:_MOST_CODE]
        if code in _REFUSALS:
            return Refused(reason=f"{self._refused}: {code}", code=code)
        reason = f"no access token: {answer.status} from the token server"
        return TryLater(reason=reason, code="token", after=wait_of(answer.retry_after, self._clock))


def _certain(outcome: Outcome) -> NoToken:
    """Asking for a token sends nothing, whatever became of the question."""
    if isinstance(outcome, Refused | TryLater):
        return outcome
    reason = outcome.reason if isinstance(outcome, Unlearned) else "no access token"
    return TryLater(reason=reason, code="connection")
