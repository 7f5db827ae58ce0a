"""SMTP: any mail server, by the standards, with our own signature.

The outcomes are those of RFC 5321: 2xx accepted, 4xx try later, 5xx refused, and unlearned when the connection ends
between the final dot and its answer.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater
from tidings.kernel.ca_bundle import CaPem
from tidings.kernel.egress import Guard
from tidings.kernel.errors import BadValueError
from tidings.kernel.secrets import Secret
from tidings.router.adapters.connect import ConnectError
from tidings.router.adapters.http_client.account import ApiUrl
from tidings.router.adapters.kind import AdapterContext, AdapterKind, seeds_of
from tidings.router.adapters.mail.dkim import DkimSigner
from tidings.router.adapters.mail.mime import build
from tidings.router.adapters.mail.return_path import ReturnPath
from tidings.router.adapters.setting_types import PRINTABLE, HostName, ShortLine
from tidings.router.adapters.smtp.bounce_mailbox import check_mailbox, mailbox_of
from tidings.router.adapters.smtp.client import SmtpConnection
from tidings.router.adapters.smtp.pool import CLOSED, MailOnWire, SmtpPool
from tidings.router.adapters.smtp.replies import account_trouble
from tidings.router.adapters.smtp.server import oauth_of, server_of, token_sender


class DkimKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key that signs for a domain."""

    domain: HostName
    selector: ShortLine
    #: The private key in PEM; by reference as `key_ref`. One of more than some 5000 bits takes seconds to be looked at.
    key: Annotated[str, Meta(max_length=4096)]

    def __repr__(self) -> str:
        return f"DkimKey(domain={self.domain!r}, selector={self.selector!r}, key=***)"


class SmtpSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One account with a mail server."""

    host: HostName
    #: 465 for tls, 587 for starttls, 25 for none, unless it is given.
    port: Annotated[int, Meta(ge=1, le=65535)] | None = None
    security: Literal["tls", "starttls", "none"] = "starttls"
    #: Trust the certificates of this file, on the disk of every process that sends, and no others.
    ca_file: ShortLine | None = None
    #: The same as text; by reference as `ca_pem_ref`, so that it lies with the account's other secrets.
    ca_pem: CaPem | None = None
    username: ShortLine | None = None
    #: By reference as `password_ref`, or as the account's `secret_ref`.
    password: ShortLine | None = None
    #: `oauth2`: the server is told an access token instead of a password (XOAUTH2 or OAUTHBEARER, as it offers).
    auth: Literal["password", "oauth2"] = "password"
    #: Where access tokens come from.
    token_url: ApiUrl | None = None
    client_id: ShortLine | None = None
    #: By reference as `client_secret_ref`.
    client_secret: ShortLine | None = None
    #: With one, a person's consent is renewed by it; without, the client asks in its own name. By reference as `refresh_token_ref`.
    refresh_token: (
        Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[!-~]+\Z", description=PRINTABLE)]
        | None
    ) = None
    scope: ShortLine | None = None
    #: What we show to a server that wants to know who connects: a certificate and its chain in PEM, by reference as `client_cert_ref`.
    client_cert: CaPem | None = None
    #: Its private key in PEM, without a passphrase; by reference as `client_key_ref`.
    client_key: Annotated[str, Meta(min_length=1, max_length=16384)] | None = None
    #: Lets a password or a token go over the wire in the clear: for a server on the same machine.
    auth_without_tls: bool = False
    #: Who bounces go to; the sender itself where this is left out.
    envelope_sender: ShortLine | None = None
    #: Instead, `bounces@example.org`: each message has `bounces+<token>@example.org`, and its bounces are read.
    bounce_address: ShortLine | None = None
    #: Instead, `bounces.example.org`: each message has `<token>@bounces.example.org`, and its bounces are read.
    return_path_domain: HostName | None = None
    #: `imaps://user@host/INBOX`: the mailbox that bounces lie in, where they do not come to Tidings by themselves.
    bounce_imap_url: ShortLine | None = None
    #: By reference as `bounce_imap_password_ref`.
    bounce_imap_password: ShortLine | None = None
    #: What we call ourselves in EHLO; our address where this is left out.
    hello_name: HostName | None = None
    #: Most connections at once.
    connections: Annotated[int, Meta(ge=1, le=200)] = 8
    #: After so many a connection is closed and another opened.
    messages_per_connection: Annotated[int, Meta(ge=1)] = 1000
    #: A connection without work is kept so long.
    idle_seconds: Annotated[float, Meta(gt=0, le=3600)] = 30.0
    #: For connecting, TLS and login together.
    connect_seconds: Annotated[float, Meta(gt=0, le=300)] = 15.0
    #: For one answer of the server.
    timeout_seconds: Annotated[float, Meta(gt=0, le=600)] = 30.0
    #: What has not begun after this is given back.
    batch_seconds: Annotated[float, Meta(gt=0, le=3600)] = 60.0
    dkim: Annotated[tuple[DkimKey, ...], Meta(max_length=50)] = ()

    def __repr__(self) -> str:
        return f"SmtpSettings(host={self.host!r}, port={self.port!r})"


class SmtpAdapter:
    """Hands mails to one account at one mail server."""

    name = "smtp"
    channels = frozenset({"email"})
    capabilities = Capabilities(html=True, attachments=True)

    def __init__(self, settings: SmtpSettings, around: AdapterContext) -> None:
        guard = around.guard
        self._token_sender = token_sender(settings, guard)
        self._server = server = server_of(
            settings, guard, oauth_of(settings, self._token_sender, around.clock)
        )
        self._clock = around.clock
        self._in_flight = around.in_flight
        self._own_signers = [
            DkimSigner(domain=key.domain, selector=key.selector, key=Secret(key.key), field=f"dkim[{i}]")
            for i, key in enumerate(settings.dkim)
        ]
        self._find_signers = around.find_signers or self._own
        self._return_path = ReturnPath(settings, around.write_token)
        self._mailbox = mailbox_of(settings, guard)
        # A message may wait for its turn, open a connection, and have three answers to wait for.
        longest = settings.batch_seconds + settings.connect_seconds + 3 * settings.timeout_seconds
        self._longest = timedelta(seconds=longest + 1)
        in_flight = around.in_flight
        self._pools, self._pool_key = around.pools, _pool_key(settings, guard)
        self._pool = around.pools.borrow(
            self._pool_key,
            lambda: SmtpPool(
                lambda: SmtpConnection.open(server, in_flight),
                connections=settings.connections,
                idle_seconds=settings.idle_seconds,
                batch_seconds=settings.batch_seconds,
                goodbye_seconds=settings.timeout_seconds,
            ),
        )
        self._closed = False

    @property
    def longest_send(self) -> timedelta:
        """A call of `send` has returned after this."""
        return self._longest

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """One outcome each, in the same order."""
        if self._closed:
            return [CLOSED for _ in messages]
        return await self._pool.send(messages, self._ready, within=within, learned=learned)

    async def check(self) -> Outcome | None:
        """Connect, greet, log in, announce a mail, and leave again without it; open the mailbox of bounces, if there is one."""
        try:
            connection = await SmtpConnection.open(self._server, self._in_flight)
        except ConnectError as error:
            return error.outcome()
        # Some let every client in, and want TLS or a login when the first mail is announced.
        said = await connection.ask(self._return_path.of(None) or "")
        await connection.close()
        if said is None:
            return TryLater(reason="the server closed the connection", code="connection")
        trouble = account_trouble(said)
        if trouble is not None:
            return Refused(reason=trouble.reason, code=trouble.code)
        return Accepted() if self._mailbox is None else await check_mailbox(self._mailbox)

    async def close(self) -> None:
        """End all connections, unless another account uses them."""
        if not self._closed:
            self._closed = True
            await self._pools.give_back(self._pool_key)
        if self._server.oauth is not None:
            await self._server.oauth.token.close()
        if self._token_sender is not None:
            await self._token_sender.close()

    def _ready(self, message: OutboundMessage) -> MailOnWire:
        if message.channel != "email":
            raise BadValueError("channel", "must be email for this adapter")
        now = self._clock.now()
        mail = build(message, at=now)
        signers = self._find_signers(message.tenant_id, mail.domain)
        return MailOnWire(
            sender=self._return_path.of(message.attempt_id) or mail.sender,
            to=mail.to,
            data=mail.data(tuple(signer.sign(mail, at=now) for signer in signers)),
            needs_utf8=mail.needs_utf8,
        )

    def _own(self, _: str, domain: str) -> Sequence[DkimSigner]:
        return (
            [signer for signer in self._own_signers if signer.signs_for(domain)] if self._own_signers else ()
        )


def _pool_key(settings: SmtpSettings, guard: Guard) -> tuple[object, ...]:
    """All that a connection depends on. An access token is one account's own, and a file of certificates may have other content by now."""
    own = object() if settings.auth == "oauth2" or settings.ca_file is not None else None
    wire = structs.replace(
        settings,
        envelope_sender=None,
        bounce_address=None,
        return_path_domain=None,
        bounce_imap_url=None,
        bounce_imap_password=None,
        dkim=(),
    )
    return ("smtp", wire, guard, own)


KIND = AdapterKind(
    adapter=SmtpAdapter,
    title="Any mail server",
    settings=SmtpSettings,
    credential_fields=(
        "username",
        "password",
        "client_secret",
        "refresh_token",
        "client_key",
        "dkim[].key",
        "bounce_imap_password",
    ),
    main_credential="password",
    # The enhanced codes of RFC 3463 and its registry. Codes of policy (5.7.x) are about us, and not about the address.
    statuses=seeds_of(
        (
            ("5.1.1", "failed_perm", "invalid_address"),
            ("5.1.2", "failed_perm", "invalid_address"),
            ("5.1.3", "failed_perm", "invalid_address"),
            ("5.1.6", "failed_perm", "invalid_address"),
            ("5.1.10", "failed_perm", "invalid_address"),
            ("5.2.1", "failed_perm", "hard_bounce"),
            ("5.2.2", "failed_perm", "soft_bounce"),
            ("5.2.3", "failed_perm", "message_too_large"),
            ("5.3.4", "failed_perm", "message_too_large"),
            ("5.7.0", "rejected_by_provider", "credentials"),
            ("5.7.1", "rejected_by_provider", "policy"),
            ("5.7.3", "rejected_by_provider", "credentials"),
            ("5.7.8", "rejected_by_provider", "credentials"),
            ("5.7.9", "rejected_by_provider", "credentials"),
            ("5.7.26", "rejected_by_provider", "policy"),
            ("530", "rejected_by_provider", "credentials"),
            ("535", "rejected_by_provider", "credentials"),
            # What happens before the server can say anything.
            ("auth", "failed_temp", "credentials"),
            ("token", "failed_temp", "credentials"),
            # What is wrong with the account, whatever the mail.
            ("login_required", "failed_temp", "credentials"),
            ("tls_required", "failed_temp", "untrusted_connection"),
            ("sender_not_allowed", "failed_temp", "sender_refused"),
            ("account_blocked", "failed_temp", "account_blocked"),
            ("connection", "failed_temp", "unreachable_server"),
            ("tls", "failed_temp", "untrusted_connection"),
        )
    ),
)
