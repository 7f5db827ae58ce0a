"""The server of an account, as its settings say: what goes together is checked, and nothing is connected to yet."""

import ssl
from typing import TYPE_CHECKING

from tidings.kernel.ca_bundle import show_certificate, trusting
from tidings.kernel.clock import Clock
from tidings.kernel.egress import Guard, host_and_port
from tidings.kernel.errors import BadValueError
from tidings.kernel.mapping import by_name
from tidings.kernel.secrets import Secret
from tidings.router.adapters.http_client.access_token import AccessToken
from tidings.router.adapters.http_client.sender import HttpSender
from tidings.router.adapters.smtp.connect import SmtpServer
from tidings.router.adapters.smtp.oauth import OAuthClient, OAuthLogin

if TYPE_CHECKING:
    from tidings.router.adapters.smtp.adapter import SmtpSettings

#: Settings of a login by OAuth 2.
_OAUTH = ("token_url", "client_id", "client_secret", "refresh_token", "scope")
#: The default port of each kind of security.
_PORTS = {"tls": 465, "starttls": 587, "none": 25}


def token_sender(settings: "SmtpSettings", guard: Guard) -> HttpSender | None:
    """What access tokens are asked for with; None where none are."""
    if settings.auth != "oauth2":
        return None
    return HttpSender(
        guard=guard,
        connections=1,
        connect_seconds=settings.connect_seconds,
        timeout_seconds=settings.connect_seconds,
    )


def oauth_of(settings: "SmtpSettings", sender: HttpSender | None, clock: Clock) -> OAuthLogin | None:
    """The login by a token; a `BadValueError` where something is missing for it, or too much."""
    given = {name: getattr(settings, name) for name in _OAUTH}
    if sender is None:
        surplus = next((name for name, value in given.items() if value is not None), None)
        if surplus is not None:
            raise BadValueError(surplus, "belongs to auth oauth2: set auth as well, or leave it out")
        return None
    for name in ("username", "token_url", "client_id"):
        if getattr(settings, name) is None:
            raise BadValueError(name, "is needed for auth oauth2")
    if settings.password is not None:
        raise BadValueError("password", "must be left out with auth oauth2: the access token takes its place")
    if settings.client_secret is None and settings.refresh_token is None:
        raise BadValueError("client_secret", "is needed for auth oauth2, or a refresh_token")
    if settings.refresh_token is None and settings.scope is None:
        raise BadValueError(
            "scope", "is needed without a refresh_token, such as https://outlook.office365.com/.default"
        )
    if host_and_port(settings.token_url or "") is None:
        raise BadValueError("token_url", "must be an address such as https://login.vendor.example/token")
    client = OAuthClient(
        token_url=settings.token_url or "",
        client_id=settings.client_id or "",
        client_secret=Secret(settings.client_secret) if settings.client_secret else None,
        refresh_token=Secret(settings.refresh_token) if settings.refresh_token else None,
        scope=settings.scope,
    )
    token = AccessToken(
        client.request, sender, refused="the token server does not accept the client", clock=clock
    )
    return OAuthLogin(username=settings.username or "", token=token)


def server_of(settings: "SmtpSettings", guard: Guard, oauth: OAuthLogin | None) -> SmtpServer:
    """Where to connect to, and how; a `BadValueError` where the settings do not go together."""
    if oauth is None and (settings.username is None) != (settings.password is None):
        missing = "username" if settings.username is None else "password"
        raise BadValueError(missing, "is needed as well: user name and password go together")
    secret = "the password" if settings.password is not None else "the access token" if oauth else None
    if secret is not None and settings.security == "none" and not settings.auth_without_tls:
        raise BadValueError("security", f"must be tls or starttls, so that {secret} is not sent in the clear")
    return by_name(
        SmtpServer,
        settings,
        port=settings.port or _PORTS[settings.security],
        context=_context(settings),
        oauth=oauth,
        password=Secret(settings.password) if settings.password is not None else None,
        guard=guard,
    )


def _context(settings: "SmtpSettings") -> ssl.SSLContext | None:
    shown = settings.client_cert is not None or settings.client_key is not None
    if settings.security == "none":
        if shown:
            raise BadValueError("client_cert", "is shown over TLS only: set security to tls or starttls")
        return None
    context = trusting(settings.ca_file, settings.ca_pem)
    if shown:
        show_certificate(context, settings.client_cert, settings.client_key)
    return context
