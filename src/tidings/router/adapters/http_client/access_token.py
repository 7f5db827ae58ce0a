"""The access token with which a vendor knows an account, in the words of outcomes."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeAlias

from tidings.contracts.messages import Refused, TryLater, Unlearned
from tidings.kernel.clock import Clock
from tidings.kernel.http_client.access_token import NoAccessToken, OAuthToken
from tidings.kernel.http_client.pool import HttpRequest
from tidings.router.adapters.http_client.answers import outcome_of
from tidings.router.adapters.http_client.sender import HttpSender

CLOSED: Final = TryLater(reason="the adapter is closed", code="closed")

#: There is no token: refused, or not to be had now.
NoToken: TypeAlias = Refused | TryLater


class AccessToken:
    """The newest token."""

    def __init__(
        self, request: Callable[[datetime], HttpRequest], sender: HttpSender, *, refused: str, clock: Clock
    ) -> None:
        """`request` asks for one at a moment; `refused` says what it means that the server gives none."""
        self._refused = refused
        self._token = OAuthToken(lambda now: sender.call(request(now)), clock=clock)

    @property
    def is_known(self) -> bool:
        """Whether there is one that need not be asked for."""
        return self._token.is_known

    async def get(self, *, within: float | None = None) -> str | NoToken:
        """The token, or why there is none after so many seconds; nothing makes it raise."""
        found = await self._token.get(within=within)
        return found if isinstance(found, str) else self._outcome(found)

    def forget(self, text: str) -> None:
        """The vendor does not take it any more."""
        self._token.forget(text)

    async def close(self) -> None:
        """Ask no more; who waits is told so."""
        await self._token.close()

    def _outcome(self, found: NoAccessToken) -> NoToken:
        if found.refused:
            return Refused(reason=f"{self._refused}: {found.code}", code=found.code)
        if found.failure is not None:
            # Asking for a token sends nothing, whatever became of the question.
            outcome = outcome_of(found.failure)
            if isinstance(outcome, Refused | TryLater):
                return outcome
            reason = outcome.reason if isinstance(outcome, Unlearned) else "no access token"
            return TryLater(reason=reason, code="connection")
        if found.code == "closed":
            return CLOSED
        if found.code == "late":
            return TryLater(reason="no access token came in time", code="token")
        reason = f"no access token: {found.status} from the token server"
        return TryLater(reason=reason, code="token", after=found.after)
