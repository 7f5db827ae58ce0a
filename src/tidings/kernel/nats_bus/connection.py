"""The one connection of a process to NATS: made when it is first needed, and made again for ever after it was lost.

The client's own reconnecting is switched off: it would send what it had buffered before the loss, long after the relay
has given it up. Whoever used a lost connection begins again with the new one.
"""

import asyncio
import contextlib
import random
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from tidings.kernel.bus import BusUnavailableError
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.errors import NotConfiguredError, TidingsError
from tidings.kernel.logs import get_logger
from tidings.kernel.nats_bus.address import NatsAddress
from tidings.kernel.secrets import Secret, SecretResolver

try:
    import nats.errors
    from nats.aio.client import Client, RawCredentials
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription
except ImportError as missing:
    raise NotConfiguredError(
        "a bus on NATS needs the extra `nats`: pip install 'tidings-platform[nats]'"
    ) from missing

_log = get_logger("bus.nats")
#: How long a caller waits for a connection that is being made, in seconds.
_PATIENCE: Final = 2.0
_CONNECT_SECONDS: Final = 5
_PACE: Final = RetryPolicy(max_attempts=None)
_LONGEST_PAUSE: Final = 2.0
_CREDENTIALS_PARTS: Final = ("NATS USER JWT", "USER NKEY SEED")
_CERTIFICATE_WANTED: Final = (
    "it asks for a certificate of ours and does not take what it gets: name one that it trusts with ?cert=/path/to/cert.pem&key="
    "/path/to/key.pem in TIDINGS_BUS_URL"
)


class NatsConnection:
    """Gives the client to whoever asks, as long as there is one."""

    def __init__(
        self,
        address: NatsAddress,
        *,
        secrets: SecretResolver | None = None,
        on_change: Callable[[bool], None] | None = None,
    ) -> None:
        self.address = address
        self._secrets = secrets
        self._on_change = on_change or (lambda _: None)
        self._client: Client | None = None
        self._connecting: asyncio.Task[Client] | None = None
        self._discarded: set[asyncio.Task[None]] = set()
        self._listeners: list[Callable[[], None]] = []
        self._failures = 0
        self._lost_at: float | None = None
        #: Why there is no connection, in our words.
        self.reason = "it does not answer"
        #: Grows with every connection; what belongs to an older one is worth nothing.
        self.generation = 0
        #: Set while there is none, for those who wait for an answer over it.
        self.lost = asyncio.Event()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call it whenever the connection was made or lost."""
        self._listeners.append(listener)

    @property
    def connected(self) -> bool:
        """Whether there is a connection now."""
        return self._current() is not None

    async def client(self, *, patience: float = _PATIENCE) -> Client:
        """The client; a `BusUnavailableError` where there is none within so many seconds."""
        if (client := self._current()) is not None:
            return client
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.create_task(self._connect_for_ever())
        with contextlib.suppress(TimeoutError):
            client = await asyncio.wait_for(asyncio.shield(self._connecting), patience)
        if client is None:
            raise BusUnavailableError(f"NATS: {self.reason}")
        return client

    async def subscribe(self, subject: str, heard: Callable[[Msg], Awaitable[None]]) -> Subscription:
        """Hear what comes there, as long as this connection lives."""
        client = await self.client()
        try:
            return await client.subscribe(subject, cb=heard)
        except (nats.errors.Error, OSError) as error:
            raise BusUnavailableError(f"NATS: {_words(error)}") from None

    async def unsubscribe(self, subscription: Subscription) -> None:
        """Hear no more; on a connection that was lost there is nothing to hear."""
        with contextlib.suppress(nats.errors.Error, OSError):
            await subscription.unsubscribe()

    async def until(self, event: asyncio.Event) -> None:
        """Until that is set; a `ConnectionError` where the connection is lost before."""
        lost = self.lost
        waiters = [asyncio.ensure_future(one.wait()) for one in (event, lost)]
        try:
            await asyncio.wait(waiters, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiter in waiters:
                waiter.cancel()
        if not event.is_set():
            raise ConnectionError

    async def request(self, subject: str, payload: bytes = b"", *, timeout: float = 5.0) -> bytes:
        """What is answered there; a `BusUnavailableError` where nobody does."""
        client = await self.client()
        try:
            message = await client.request(subject, payload, timeout=timeout)
        except nats.errors.NoRespondersError:
            raise BusUnavailableError(
                "NATS: no JetStream answers: it is switched on with -js, or its cluster has no leader"
            ) from None
        except (TimeoutError, nats.errors.Error, OSError) as error:
            raise BusUnavailableError(f"NATS: {_words(error)}") from None
        data: bytes = message.data
        return data

    async def close(self) -> None:
        """Go, and stay away."""
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
        client, self._client = self._client, None
        if client is not None:
            self._discard(client)
        await asyncio.gather(*self._discarded)

    async def _connect_for_ever(self) -> Client:
        while True:
            try:
                return await self._connect()
            except Exception as error:  # noqa: BLE001  # whatever it is, the next try may go better
                self._failed(_words(error))
                delay = _PACE.delay(self._failures, random.random()).total_seconds()  # noqa: S311  # spreads load only
                await asyncio.sleep(min(delay, _LONGEST_PAUSE))

    async def _connect(self) -> Client:
        options = await self._options()
        servers = list(self.address.servers)
        random.shuffle(servers)
        for number, server in enumerate(servers, start=1):
            client = Client()
            begun, lost = asyncio.Event(), asyncio.Event()
            try:
                await client.connect(
                    server,
                    **options,
                    error_cb=_raising_until(begun),
                    closed_cb=self._closing(client, lost),
                    allow_reconnect=False,
                )
            except Exception as error:
                self._discard(client)
                if number < len(servers):
                    continue
                if _refuses_certificate(client, error):
                    raise NotConfiguredError(_CERTIFICATE_WANTED) from error
                raise
            begun.set()
            self.generation += 1
            self._client, self.lost = client, lost
            self._tell_connected(client)
            return client
        raise ConnectionError

    def _discard(self, client: Client) -> None:
        """Close it without waiting: the client waits long for a farewell after a handshake that failed."""

        async def close() -> None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(client.close(), 2)

        task = asyncio.create_task(close())
        self._discarded.add(task)
        task.add_done_callback(self._discarded.discard)

    async def _options(self) -> dict[str, Any]:
        address = self.address
        password, token = address.password, address.token
        options: dict[str, Any] = {
            "name": "tidings",
            "connect_timeout": _CONNECT_SECONDS,
            # A server that hangs is given up after twice this.
            "ping_interval": 5,
            "max_outstanding_pings": 2,
            "inbox_prefix": f"_INBOX_{address.prefix}",
        }
        if address.password_ref is not None:
            password = await self._secret(address.password_ref)
        if address.token_ref is not None:
            token = await self._secret(address.token_ref)
        if address.user is not None:
            options |= {"user": address.user, "password": password.reveal() if password else None}
        if token is not None:
            options["token"] = token.reveal()
        if address.credentials_ref is not None:
            options["user_credentials"] = _credentials(await self._secret(address.credentials_ref))
        if address.nkey_ref is not None:
            options["nkeys_seed_str"] = (await self._secret(address.nkey_ref)).reveal()
        if address.tls:
            options["tls"] = await asyncio.to_thread(_tls, address)
        return options

    async def _secret(self, reference: str) -> Secret:
        if self._secrets is None:
            raise NotConfiguredError("TIDINGS_BUS_URL has a secret reference, and nothing reads it here")
        return await self._secrets.resolve(reference, field="TIDINGS_BUS_URL")

    def _current(self) -> Client | None:
        """The client, unless it was lost: it does not always say so."""
        client = self._client
        if client is not None and not client.is_connected:
            self._lost(client, self.lost)
        return self._client

    def _closing(self, client: Client, lost: asyncio.Event) -> Callable[[], Any]:
        async def closed() -> None:
            self._lost(client, lost)

        return closed

    def _lost(self, client: Client, lost: asyncio.Event) -> None:
        lost.set()
        if self._client is client:
            self._client = None
            self._discard(client)
            self._failed("the connection was lost")

    def _failed(self, reason: str) -> None:
        self._failures += 1
        if self._failures == 1 or reason != self.reason:
            _log.warning("nats_away", reason=reason)
        self.reason = reason
        if self._lost_at is None:
            self._lost_at = time.monotonic()
            self._on_change(False)
            self._tell()

    def _tell_connected(self, client: Client) -> None:
        away = 0.0 if self._lost_at is None else time.monotonic() - self._lost_at
        _log.info("nats_connected", version=str(client.connected_server_version), away_seconds=round(away, 3))
        self._failures, self._lost_at = 0, None
        self._on_change(True)
        self._tell()

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()


def _credentials(secret: Secret) -> RawCredentials:
    """The content of a credentials file; the client would stumble over one that is none."""
    text = secret.reveal() + "\n"
    if any(_part_of_credentials(part).search(text) is None for part in _CREDENTIALS_PARTS):
        raise NotConfiguredError(
            "?credentials= in TIDINGS_BUS_URL is no credentials file: that has a user's JWT and its seed, as "
            "`nsc generate creds` writes it"
        )
    return RawCredentials(text)


def _part_of_credentials(name: str) -> re.Pattern[str]:
    return re.compile(rf"-----BEGIN {name}-----\s+\S+\s+-+END {name}-")


def _tls(address: NatsAddress) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=address.ca)
    except ssl.SSLError:
        raise NotConfiguredError("?ca= in TIDINGS_BUS_URL is no file of certificates (PEM)") from None
    if address.cert is not None:
        try:
            context.load_cert_chain(address.cert, address.key)
        except ssl.SSLError:
            raise NotConfiguredError(
                "?cert= and ?key= in TIDINGS_BUS_URL do not belong together, or are no PEM files"
            ) from None
    return context


def _refuses_certificate(client: Client, error: Exception) -> bool:
    """Whether a server that asks for our certificate has hung up: under TLS 1.3 it says why only now and then."""
    asks = client._server_info.get("tls_verify", False)  # the client shows it nowhere else
    return bool(asks) and isinstance(error, OSError) and not isinstance(error, ssl.SSLCertVerificationError)


def _raising_until(begun: asyncio.Event) -> Callable[[Exception], Any]:
    """The client would try the same server again and again, by a pace of its own."""

    async def failed(error: Exception) -> None:
        # Later, what matters comes as an exception of a call, or as the end of the connection.
        if not begun.is_set():
            raise error

    return failed


def _words(error: BaseException) -> str:
    """What is wrong, and what to do; never with words of the URL."""
    if isinstance(error, TidingsError):
        return str(error)
    said = str(error).lower()
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not trusted: name whose certificates to believe with ?ca=/path/to/ca.pem"
    if isinstance(error, ssl.SSLError) or "tls" in said:
        return "no encrypted connection comes about: tls:// is for servers with certificates, nats:// for the others"
    if "authorization" in said or "authentication" in said:
        return "it refuses the login: compare user, password, token or credentials in TIDINGS_BUS_URL with the server's"
    if "user info required" in said or "nkey" in said:
        return "it wants a login: nats://user:password@…, or ?credentials=file://… or ?nkey=file://…"
    if isinstance(error, FileNotFoundError):
        return "a file that TIDINGS_BUS_URL names is missing"
    if isinstance(error, OSError | TimeoutError | nats.errors.NoServersError):
        return "it can't be reached"
    return f"it can't be used ({type(error).__name__})"
