"""Cookies of a session and its device as they travel, and the token that proves that our own page sent a request."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.sessions.errors import CsrfError
from tidings.backoffice.sessions.model import (
    DEVICE_COOKIE,
    DEVICE_LASTS,
    LASTS,
    SESSION_COOKIE,
    OpenedSession,
)
from tidings.kernel.http.asgi import SeenScope
from tidings.kernel.http.browsers import is_from_another_site, is_secure, read_cookie, set_cookie
from tidings.kernel.http.own_address import OwnAddress


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SessionCookies:
    """Reads and writes them."""

    address: OwnAddress
    pepper: OperatorPepper

    def session_in(self, scope: SeenScope) -> str | None:
        """What the session's cookie holds."""
        return read_cookie(scope, SESSION_COOKIE, secure=self.is_secure(scope))

    def device_in(self, scope: SeenScope) -> str | None:
        """What the device's cookie holds."""
        return read_cookie(scope, DEVICE_COOKIE, secure=self.is_secure(scope))

    def opening(self, scope: SeenScope, opened: OpenedSession) -> Sequence[str]:
        """What the browser is to keep of a new session."""
        secure = self.is_secure(scope)
        cookies = [
            set_cookie(
                SESSION_COOKIE, opened.session_cookie, secure=secure, seconds=int(LASTS.total_seconds())
            )
        ]
        # A device that is known keeps its secret, and its cookie lasts anew: it must not end amid the session.
        device = opened.device_cookie or self.device_in(scope)
        if device is not None:
            seconds = int(DEVICE_LASTS.total_seconds())
            cookies.append(set_cookie(DEVICE_COOKIE, device, secure=secure, seconds=seconds))
        return cookies

    def closing(self, scope: SeenScope) -> Sequence[str]:
        """Takes the session's cookie away; the device keeps its own."""
        return [set_cookie(SESSION_COOKIE, "", secure=self.is_secure(scope), seconds=0)]

    def is_secure(self, scope: SeenScope) -> bool:
        """Whether the browser speaks https."""
        return is_secure(scope, self.address.public_url)

    async def csrf_token(self, session_id: str) -> str:
        """What pages of this session send along with what changes something."""
        return (await self.pepper.hash("csrf", session_id)).removeprefix("sha256:")

    async def check_csrf(self, scope: SeenScope, session_id: str, given: str | None) -> None:
        """Refuse what another site sent, or lacks the token."""
        expected = await self.csrf_token(session_id)
        proven = hmac.compare_digest((given or "").encode(), expected.encode())
        if is_from_another_site(scope, secure=self.is_secure(scope)) or not proven:
            raise CsrfError
