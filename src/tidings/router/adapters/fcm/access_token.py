"""How a Google service account asks for its access token: by a claim that its key has signed (RFC 7523)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from tidings.kernel.clock import Clock
from tidings.kernel.http_client.pool import HttpRequest
from tidings.router.adapters.http_client.access_token import AccessToken
from tidings.router.adapters.http_client.sender import HttpSender
from tidings.router.adapters.signing_keys import signed

if TYPE_CHECKING:
    from joserfc.jwk import RSAKey

_SCOPE: Final = "https://www.googleapis.com/auth/firebase.messaging"
_GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
#: The longest that Google takes.
_ASSERTION_SECONDS: Final = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccount:
    """Who asks."""

    client_email: str
    key: "RSAKey" = field(repr=False)
    #: Which of its keys.
    key_id: str | None
    token_uri: str

    def request(self, now: datetime) -> HttpRequest:
        """The question, at this moment."""
        header = {"alg": "RS256", "typ": "JWT"} | ({"kid": self.key_id} if self.key_id else {})
        issued = int(now.timestamp())
        claims = {
            "iss": self.client_email,
            "scope": _SCOPE,
            "aud": self.token_uri,
            "iat": issued,
            "exp": issued + _ASSERTION_SECONDS,
        }
        body = urlencode({"grant_type": _GRANT, "assertion": signed(header, claims, self.key)})
        return HttpRequest(
            url=self.token_uri,
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            body=body.encode(),
        )


def token_of(account: ServiceAccount, sender: HttpSender, *, clock: Clock) -> AccessToken:
    """Its newest token."""
    return AccessToken(
        account.request, sender, refused="Google does not accept the service account", clock=clock
    )
