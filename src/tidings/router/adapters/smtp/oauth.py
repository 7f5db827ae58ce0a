"""Logging in to a mail server by OAuth 2: how the token is asked for, and how the server is told it.

XOAUTH2 is Google's and Microsoft's; OAUTHBEARER (RFC 7628) is the standard's form of the same.
"""

import base64
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import urlencode

from tidings.kernel.http_client.pool import HttpRequest
from tidings.kernel.secrets import Secret
from tidings.router.adapters.http_client.access_token import AccessToken
from tidings.router.adapters.smtp.wire import SmtpReply, SmtpWire

TOKEN_REFUSED: Final = "the server did not accept the access token for this user name"  # noqa: S105  # words
#: By what the server offers, the best known first.
WAYS: Final = ("XOAUTH2", "OAUTHBEARER")
#: What a client says to the details of a refusal, so that the refusal itself comes.
_GO_ON: Final = {"XOAUTH2": b"", "OAUTHBEARER": b"AQ=="}


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """Who asks for tokens, and how."""

    token_url: str
    client_id: str
    client_secret: Secret | None
    #: Given: a person's consent is renewed by it. None: the client asks in its own name.
    refresh_token: Secret | None = field(repr=False)
    scope: str | None

    def request(self, _: datetime) -> HttpRequest:
        """The question (RFC 6749, 4.4.2 or 6)."""
        fields = {"client_id": self.client_id}
        if self.refresh_token is not None:
            fields |= {"grant_type": "refresh_token", "refresh_token": self.refresh_token.reveal()}
        else:
            fields["grant_type"] = "client_credentials"
        if self.client_secret is not None:
            fields["client_secret"] = self.client_secret.reveal()
        if self.scope is not None:
            fields["scope"] = self.scope
        return HttpRequest(
            url=self.token_url,
            headers={"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"},
            body=urlencode(fields).encode(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthLogin:
    """The owner of the mailbox, and the token that opens it."""

    username: str
    token: AccessToken

    async def log_in(
        self, wire: SmtpWire, way: str, text: str, *, place: tuple[str, int], deadline: float
    ) -> SmtpReply:
        """Tell the server the token; its last word."""
        bearer = f"auth=Bearer {text}"
        if way == "XOAUTH2":
            said = f"user={self.username}\x01{bearer}\x01\x01"
        else:
            user = self.username.replace("=", "=3D").replace(",", "=2C")
            said = f"n,a={user},\x01host={place[0]}\x01port={place[1]}\x01{bearer}\x01\x01"
        wire.write(f"AUTH {way} ".encode() + base64.b64encode(said.encode()) + b"\r\n")
        reply = await wire.reply(deadline)
        if reply.code == 334:
            # Why it is refused, as JSON; the refusal comes after an answer.
            wire.write(_GO_ON[way] + b"\r\n")
            reply = await wire.reply(deadline)
        return reply
