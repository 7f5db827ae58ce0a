"""What an operator can choose: the only reader of the environment.

One frozen tree, built once, checked whole, passed down in branches. Every value has one environment
variable; `docs/settings.md` lists them and a test compares the two.
"""

import difflib
import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, get_type_hints
from urllib.parse import urlsplit

from tidings.kernel.errors import BadValueError
from tidings.kernel.secrets import Secret
from tidings.kernel.urls import normalise_http_url

T = TypeVar("T")

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})
_LOOPBACK_NETWORKS = "127.0.0.0/8, ::1/128"
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
#: Names under our prefix that are not settings: secrets that `env://` references point at, what commands that call
#: a server go by, and the tests'.
_NOT_SETTINGS = ("TIDINGS_SECRET_", "TIDINGS_URL", "TIDINGS_API_KEY", "TIDINGS_TEST_")


class BadSettingsError(Exception):
    """Settings that can't be used; one line for each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        #: One sentence for each wrong value: the variable, what it has to be, what it was.
        self.problems = problems


def setting(env: str, default: Any, about: str, check: Callable[[Any], str | None] | None = None) -> Any:
    """A field with its variable, its default and a line for the docs."""
    return field(default=default, metadata={"env": env, "about": about, "check": check})


def _between(low: int, high: int) -> Callable[[Any], str | None]:
    return lambda value: None if low <= value <= high else f"must be between {low} and {high}"


def _longer_than_zero(value: timedelta) -> str | None:
    return None if value > timedelta(0) else "must be longer than zero"


def _one_of(*words: str) -> Callable[[Any], str | None]:
    return lambda value: None if value in words else f"must be one of {', '.join(words)}"


def _port_or_off(value: str | None) -> str | None:
    if value is None or value == "off" or (re.fullmatch(r"\d{1,5}", value) and int(value) < 65536):
        return None
    return "must be a port between 0 and 65535, or off"


def _postgres_url(value: Secret | None) -> str | None:
    if value is None or value.reveal().startswith(("postgresql://", "postgres://")):
        return None
    return "must be a URL of the form postgresql://user:password@host:port/database"


def _hot_state_url(value: Secret | None) -> str | None:
    schemes = ("postgres:", "redis://", "rediss://", "valkey://", "valkeys://")
    if value is None or value.reveal() == schemes[0] or value.reveal().startswith(schemes[1:]):
        return None
    return "must be postgres: or a URL of the form redis://user:password@host:port/0 (also rediss, valkey, valkeys)"


def _cache_url(value: Secret | None) -> str | None:
    if value is None or value.reveal().startswith(("redis://", "rediss://", "valkey://", "valkeys://")):
        return None
    return "must be a URL of the form redis://user:password@host:port/0 (also rediss, valkey, valkeys)"


def _bus_url(value: Secret | None) -> str | None:
    if value is None or value.reveal() == "postgres:":
        return None
    from tidings.kernel.nats_bus.address import parse_address

    try:
        parse_address(value)
    except BadValueError as error:
        return error.remedy
    return None


def _currency_rates(value: str) -> str | None:
    if re.fullmatch(r"[A-Z]{3}([ ,]+[A-Z]{3}=(?=[0-9.]*[1-9])[0-9]+(\.[0-9]+)?)*", value.strip()):
        return None
    return "must be a currency and what one of it is in others, such as `USD EUR=0.92 AFN=70.5`"


def _http_url(value: str | None) -> str | None:
    if value is None or value.startswith(("http://", "https://", "file://")):
        return None
    return "must be a URL that starts with https:// or http://"


def _public_url(value: str | None) -> str | None:
    if value is None or (normalise_http_url(value) is not None and "?" not in value):
        return None
    return (
        "must be a URL that starts with https:// or http://, without user name, password, query or fragment"
    )


def _issuer(value: str | None) -> str | None:
    fault = _public_url(value)
    if value is None or fault is not None:
        return fault
    parts = urlsplit(value)
    if parts.scheme == "https" or parts.hostname in _LOOPBACK_HOSTS:
        return None
    return "must start with https://, but for a provider on this very machine: its answers say who signs in"


def _networks(value: str) -> str | None:
    try:
        _ = [ipaddress.ip_network(one) for one in words(value)]
    except ValueError:
        return "must be networks such as 10.20.0.0/16, with commas between them"
    return None


def _address_and_port(value: str | None) -> str | None:
    try:
        if value is None or address_and_port(value, 0)[1]:
            return None
    except ValueError:
        pass
    return "must be an IP address and a port, such as 127.0.0.1:2525 or [::1]:2525"


def _mail_addresses(value: str) -> str | None:
    if all(re.fullmatch(r"[^@\s]{1,64}@[^@\s]{1,255}", one) for one in words(value)):
        return None
    return "must be mail addresses such as fbl@example.org, with commas between them"


def _dns_servers(value: str) -> str | None:
    try:
        _ = [address_and_port(one, 53) for one in words(value)]
    except ValueError:
        return (
            "must be IP addresses such as 10.0.0.2 or 10.0.0.2:5353 or [fd00::2]:53, with commas between them"
        )
    return None


def words(value: str) -> list[str]:
    """The parts of a list that is written with commas."""
    return [part for part in re.split(r"[,\s]+", value) if part]


def address_and_port(value: str, default: int) -> tuple[str, int]:
    """An IP address with the port behind it; a `ValueError` where it is none."""
    match = re.fullmatch(r"\[([^\]]+)\](?::(\d{1,5}))?|([^:]+)(?::(\d{1,5}))?|(.+)", value)
    address, port = (match[1] or match[3] or match[5], match[2] or match[4]) if match else (value, None)
    if port is not None and not 0 < int(port) < 65536:
        raise ValueError("no port")
    return str(ipaddress.ip_address(address)), int(port or default)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Where the API listens and what it accepts."""

    host: str = setting("TIDINGS_HOST", "127.0.0.1", "Address to listen on; 0.0.0.0 opens it to the network.")
    port: int = setting("TIDINGS_PORT", 8080, "Port to listen on; 0 takes any free one.", _between(0, 65535))
    public_url: str | None = setting(
        "TIDINGS_PUBLIC_URL",
        None,
        "How the outside reaches us: links in messages and the hooks of vendors begin with it; default: the address we "
        "listen on.",
        _public_url,
    )
    trusted_proxies: str = setting(
        "TIDINGS_TRUSTED_PROXIES",
        "",
        "Networks of your reverse proxies, such as 127.0.0.1/32, 10.0.0.0/24: only from them "
        "X-Forwarded-For names the caller; default: none.",
        _networks,
    )
    max_connections: int = setting(
        "TIDINGS_MAX_CONNECTIONS",
        10_000,
        "Connections that the API holds at once, in each process, as far as there are descriptors (LimitNOFILE); one more "
        "is answered with 503 and closed.",
        _between(16, 1_000_000),
    )
    max_connections_per_address: int = setting(
        "TIDINGS_MAX_CONNECTIONS_PER_ADDRESS",
        2_000,
        "Of these, from one address, or one IPv6 network of 64 bits; the proxies of TIDINGS_TRUSTED_PROXIES may have all "
        "of them.",
        _between(1, 1_000_000),
    )
    max_inbox_streams: int = setting(
        "TIDINGS_MAX_INBOX_STREAMS",
        8_000,
        "Of the connections of a process, how many may be live streams of inboxes; one more is answered with 429, or closed "
        "with 4429.",
        _between(1, 1_000_000),
    )
    max_inbox_streams_per_tenant: int = setting(
        "TIDINGS_MAX_INBOX_STREAMS_PER_TENANT",
        4_000,
        "Of these, of one tenant; a person may have 20.",
        _between(1, 1_000_000),
    )
    max_body_bytes: int = setting(
        "TIDINGS_MAX_BODY_BYTES",
        1_048_576,
        "A larger request body is refused with 413.",
        _between(1024, 268_435_456),
    )
    max_import_bytes: int = setting(
        "TIDINGS_MAX_IMPORT_BYTES",
        1_073_741_824,
        "A larger file to import is refused with 413; files are read as they arrive and never held whole.",
        _between(1024, 1_099_511_627_776),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSettings:
    """Which Postgres, and how hard to lean on it."""

    url: Secret | None = setting(
        "TIDINGS_DATABASE_URL",
        None,
        "An outside Postgres (15 or newer), as the runtime role; default: the embedded one.",
        _postgres_url,
    )
    owner_url: Secret | None = setting(
        "TIDINGS_OWNER_DATABASE_URL",
        None,
        "The same database as the owner role, for migrations and partitions.",
        _postgres_url,
    )
    pool_min: int = setting(
        "TIDINGS_DATABASE_POOL_MIN", 2, "Connections kept open when idle.", _between(0, 1000)
    )
    pool_max: int = setting(
        "TIDINGS_DATABASE_POOL_MAX",
        16,
        "Connections at most, per process; further work waits in line.",
        _between(1, 1000),
    )
    statement_timeout: timedelta = setting(
        "TIDINGS_DATABASE_STATEMENT_TIMEOUT",
        timedelta(seconds=30),
        "A statement that takes longer is cancelled.",
        _longer_than_zero,
    )
    lock_timeout: timedelta = setting(
        "TIDINGS_DATABASE_LOCK_TIMEOUT",
        timedelta(seconds=5),
        "A statement that waits longer for a lock is cancelled.",
        _longer_than_zero,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Keys, blobs and secrets."""

    kms_url: str | None = setting(
        "TIDINGS_KMS_URL", None, "Where the master key is; default: file://DATA_DIR/keys/master.json."
    )
    blobs_url: str | None = setting(
        "TIDINGS_BLOBS_URL",
        None,
        "Where large objects go (file://, s3://, gs://, az://); default: file://DATA_DIR/blobs.",
    )
    hot_state_url: Secret | None = setting(
        "TIDINGS_HOT_STATE_URL",
        None,
        "Where limits are counted: `postgres:`, or redis://, rediss://, valkey://, valkeys:// with Postgres behind it "
        "(extra `redis`); default: Postgres. The same for all processes.",
        _hot_state_url,
    )
    cache_url: Secret | None = setting(
        "TIDINGS_CACHE_URL",
        None,
        "Where dashboards and boards are kept for seconds, so that processes share them: redis://, rediss://, valkey://, valkeys:// "
        "(extra `redis`), another server than that of TIDINGS_HOT_STATE_URL, with maxmemory-policy allkeys-lru; default: each "
        "process keeps its own.",
        _cache_url,
    )
    bus_url: Secret | None = setting(
        "TIDINGS_BUS_URL",
        None,
        "Where events between services are kept: `postgres:`, or nats://user:password@host:4222 or tls://… for NATS "
        "JetStream (extra `nats`; several hosts with commas; options in docs/bus.md); default: Postgres. The same for all processes.",
        _bus_url,
    )
    secrets_dir: Path | None = setting(
        "TIDINGS_SECRETS_DIR",
        None,
        "The folder that file:// secret references are confined to; default: DATA_DIR/secrets.",
    )
    journal_dir: Path | None = setting(
        "TIDINGS_JOURNAL_DIR",
        None,
        "The folder, on a disk of this host, where a worker notes vendors' answers until they are recorded; the next worker "
        "on the host reads it after a kill; default: DATA_DIR/journal.",
    )
    backups_kept: timedelta = setting(
        "TIDINGS_BACKUPS_KEPT",
        timedelta(days=35),
        "How long the oldest backup of the database is kept; erasure receipts name the day that follows from it.",
        _longer_than_zero,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultSettings:
    """The HashiCorp Vault that vault:// references are looked up in."""

    url: str | None = setting(
        "TIDINGS_VAULT_URL",
        None,
        "HashiCorp Vault, such as https://vault.example:8200; without it there are no vault:// references.",
        _http_url,
    )
    token: Secret | None = setting(
        "TIDINGS_VAULT_TOKEN", None, "The token to read with; it is renewed at half of its time."
    )
    token_file: Path | None = setting(
        "TIDINGS_VAULT_TOKEN_FILE",
        None,
        "Instead: a file with the token, read anew for every request, as Vault Agent writes one.",
    )
    namespace: str | None = setting("TIDINGS_VAULT_NAMESPACE", None, "The namespace, of Vault Enterprise.")
    ca_file: Path | None = setting(
        "TIDINGS_VAULT_CA_FILE", None, "Trust the certificates of this file, and no others."
    )
    mount: str = setting("TIDINGS_VAULT_MOUNT", "secret", "Where the KV engine (version 2) is mounted.")
    tenants: str = setting(
        "TIDINGS_VAULT_TENANTS", "tenants", "The folder in it where tenants' secrets are, by tenant id."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings:
    """How vendors' accounts are used."""

    secrets_max_age: timedelta = setting(
        "TIDINGS_SECRETS_MAX_AGE",
        timedelta(seconds=30),
        "An account's secret is read again after this, so that changed content is picked up.",
        _longer_than_zero,
    )
    credential_grace: timedelta = setting(
        "TIDINGS_CREDENTIAL_GRACE",
        timedelta(minutes=10),
        "A superseded credential counts as revoked after this; longer than the longest send.",
        _longer_than_zero,
    )
    tenant_networks: str = setting(
        "TIDINGS_TENANT_NETWORKS",
        "",
        "Private networks that tenants' own accounts and webhooks may reach, such as 10.20.0.0/16, fd12::/32; default: none, in `tidings up` on loopback this machine.",
        _networks,
    )
    currency_rates: str = setting(
        "TIDINGS_CURRENCY_RATES",
        "USD",
        "What one unit of the first currency is in others, for cost caps: `USD EUR=0.92 AFN=70.5`.",
        _currency_rates,
    )
    dns_servers: str = setting(
        "TIDINGS_DNS_SERVERS",
        "",
        "Name servers that are asked about senders' domains: addresses, with :port where it is not 53; default: the system's.",
        _dns_servers,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthSettings:
    """JWTs that we accept beside our own API keys."""

    jwks_url: str | None = setting(
        "TIDINGS_JWKS_URL",
        None,
        "Where the issuer publishes its keys; without it only API keys are accepted.",
        _http_url,
    )
    issuer: str | None = setting(
        "TIDINGS_JWT_ISSUER", None, "The only accepted `iss`; required with TIDINGS_JWKS_URL."
    )
    audience: str | None = setting(
        "TIDINGS_JWT_AUDIENCE", None, "The only accepted `aud`; required with TIDINGS_JWKS_URL."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservabilitySettings:
    """What we say about ourselves."""

    metrics_port: str | None = setting(
        "TIDINGS_METRICS_PORT",
        None,
        "Port for /healthz, /readyz and /metrics of this process; 0 takes any free one, off opens none. Default: "
        "`work` takes 9464, or any free one where that is taken; `serve` and `up` have them on the API's port alone.",
        _port_or_off,
    )
    metrics_host: str | None = setting(
        "TIDINGS_METRICS_HOST", None, "Address that it listens on; default: TIDINGS_HOST."
    )
    log_level: str = setting(
        "TIDINGS_LOG_LEVEL",
        "info",
        "debug, info, warning or error.",
        _one_of("debug", "info", "warning", "error"),
    )
    log_format: str = setting(
        "TIDINGS_LOG_FORMAT",
        "auto",
        "json, console, or auto: console on a terminal.",
        _one_of("json", "console", "auto"),
    )
    otlp_url: str | None = setting(
        "TIDINGS_OTLP_URL",
        None,
        "An OpenTelemetry collector (OTLP over HTTP); without it tracing costs nothing.",
        _http_url,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """Housekeeping that runs beside the API."""

    partitions_every: timedelta = setting(
        "TIDINGS_PARTITIONS_EVERY",
        timedelta(hours=1),
        "How often to look for missing partitions and make them.",
        _longer_than_zero,
    )
    sweep_every: timedelta = setting(
        "TIDINGS_SWEEP_EVERY",
        timedelta(minutes=5),
        "How often expired ledger rows are swept.",
        _longer_than_zero,
    )
    alerts_tenant: str | None = setting(
        "TIDINGS_ALERTS_TENANT",
        None,
        "Id of the tenant through which operators of the platform are told of the platform's alerts; default: they are not, "
        "and look into the console.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BounceSettings:
    """Where `tidings work` and `tidings up` take mail that comes back."""

    smtp: str | None = setting(
        "TIDINGS_BOUNCES_SMTP",
        None,
        "Address and port for bounces over SMTP, such as 127.0.0.1:2525 or [::]:25; default: none is opened.",
        _address_and_port,
    )
    lmtp: str | None = setting(
        "TIDINGS_BOUNCES_LMTP",
        None,
        "Address and port for bounces over LMTP, from a mail server of yours, such as 127.0.0.1:2424; default: none is "
        "opened.",
        _address_and_port,
    )
    addresses: str = setting(
        "TIDINGS_BOUNCES_ADDRESSES",
        "",
        "Further mail addresses that are taken there, such as that of a feedback loop (fbl@example.org), with commas between "
        "them: what comes to them has to name a return path of ours.",
        _mail_addresses,
    )
    poll_every: timedelta = setting(
        "TIDINGS_BOUNCES_POLL_EVERY",
        timedelta(minutes=1),
        "How often mailboxes that accounts name (`bounce_imap_url`) are read.",
        _longer_than_zero,
    )
    name: str | None = setting(
        "TIDINGS_BOUNCES_NAME",
        None,
        "What it calls itself to mail servers; default: the host of TIDINGS_PUBLIC_URL.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """The identity provider by which operators sign in to the console (OpenID Connect)."""

    issuer: str | None = setting(
        "TIDINGS_OIDC_ISSUER",
        None,
        "Its issuer, such as https://login.example.com/tenant; its configuration is read from /.well-known/openid-configuration "
        "under it. None: operators sign in by password and passkey.",
        _issuer,
    )
    client_id: str | None = setting(
        "TIDINGS_OIDC_CLIENT_ID", None, "What it calls Tidings; required with TIDINGS_OIDC_ISSUER."
    )
    client_secret: Secret | None = setting(
        "TIDINGS_OIDC_CLIENT_SECRET",
        None,
        "The secret it gave Tidings; none for a client that PKCE alone proves.",
    )
    name: str = setting(
        "TIDINGS_OIDC_NAME", "SSO", "What the button at the sign-in calls it, such as the name of your house."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """The services that know what happens in hotels and schools; the back office shows it."""

    url: str | None = setting(
        "TIDINGS_UPSTREAM_URL",
        None,
        "The address under which all upstream services of the back office are found by their names (docs/upstreams.md); default: "
        "none, in `tidings up` the simulator of the sandbox.",
        _public_url,
    )
    reservations: str | None = setting(
        "TIDINGS_UPSTREAM_RESERVATIONS_URL",
        None,
        "The service that knows properties, arrivals, departures and guests, where it is not under TIDINGS_UPSTREAM_URL.",
        _public_url,
    )
    housekeeping: str | None = setting(
        "TIDINGS_UPSTREAM_HOUSEKEEPING_URL", None, "The same for rooms and their cleaning.", _public_url
    )
    maintenance: str | None = setting(
        "TIDINGS_UPSTREAM_MAINTENANCE_URL", None, "The same for what is broken.", _public_url
    )
    locks: str | None = setting(
        "TIDINGS_UPSTREAM_LOCKS_URL", None, "The same for doors and their keys.", _public_url
    )
    assistant: str | None = setting(
        "TIDINGS_UPSTREAM_ASSISTANT_URL", None, "The same for what an AI suggests.", _public_url
    )
    operators: str | None = setting(
        "TIDINGS_UPSTREAM_OPERATORS_URL",
        None,
        "The same for operators' preferences and shortcuts.",
        _public_url,
    )
    token_ref: str | None = setting(
        "TIDINGS_UPSTREAM_TOKEN_REF",
        None,
        "Where the bearer token for them is: env://TIDINGS_SECRET_…, file://… or vault://…; {upstream} in it stands for the "
        "service's name, so that each can have its own.",
    )
    timeout: timedelta = setting(
        "TIDINGS_UPSTREAM_TIMEOUT",
        timedelta(seconds=2),
        "How long a view waits for one of them, retries and all; without its answer it is marked partial.",
        _longer_than_zero,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """The stand-in for vendors that `tidings up` brings along."""

    switch: str = setting(
        "TIDINGS_SANDBOX",
        "on",
        "on or off: whether `tidings up` starts the stand-in for vendors and sends through it.",
        _one_of("on", "off"),
    )
    smtp_port: int = setting(
        "TIDINGS_SANDBOX_SMTP_PORT",
        0,
        "Its port for mail; 0 takes the one of the start before, or any free one.",
        _between(0, 65535),
    )
    http_port: int = setting(
        "TIDINGS_SANDBOX_HTTP_PORT",
        0,
        "Its port for the page and the vendor's API; 0 takes the one of the start before, or any free one.",
        _between(0, 65535),
    )
    smpp_port: int = setting(
        "TIDINGS_SANDBOX_SMPP_PORT",
        0,
        "Its port for SMPP; 0 takes the one of the start before, or any free one.",
        _between(0, 65535),
    )
    apns_port: int = setting(
        "TIDINGS_SANDBOX_APNS_PORT",
        0,
        "Its port for APNs, over HTTP/2; 0 takes the one of the start before, or any free one.",
        _between(0, 65535),
    )
    keep: int = setting(
        "TIDINGS_SANDBOX_KEEP",
        10_000,
        "How many messages it keeps in memory; the oldest make room.",
        _between(1, 1_000_000),
    )
    keep_mb: int = setting(
        "TIDINGS_SANDBOX_KEEP_MB", 64, "How many megabytes of them it keeps.", _between(1, 4096)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything an operator can choose."""

    data_dir: Path = setting(
        "TIDINGS_DATA_DIR", Path("tidings-data"), "Folder of the embedded database, the keys and the blobs."
    )
    http: HttpSettings = field(default_factory=HttpSettings)
    database: DatabaseSettings = field(default_factory=DatabaseSettings)
    stores: StoreSettings = field(default_factory=StoreSettings)
    vault: VaultSettings = field(default_factory=VaultSettings)
    channels: ChannelSettings = field(default_factory=ChannelSettings)
    auth: AuthSettings = field(default_factory=AuthSettings)
    observability: ObservabilitySettings = field(default_factory=ObservabilitySettings)
    jobs: JobSettings = field(default_factory=JobSettings)
    bounces: BounceSettings = field(default_factory=BounceSettings)
    oidc: OidcSettings = field(default_factory=OidcSettings)
    upstreams: UpstreamSettings = field(default_factory=UpstreamSettings)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)

    def kms_url(self) -> str:
        """The master key's place, defaulted."""
        return self.stores.kms_url or (self.data_dir.absolute() / "keys" / "master.json").as_uri()

    def blobs_url(self) -> str:
        """The blob store's place, defaulted."""
        return self.stores.blobs_url or (self.data_dir.absolute() / "blobs").as_uri()

    def secrets_dir(self) -> Path:
        """The folder of file secrets, defaulted."""
        return self.stores.secrets_dir or self.data_dir.absolute() / "secrets"

    def journal_dir(self) -> Path:
        """The folder of journals, defaulted."""
        return self.stores.journal_dir or self.data_dir.absolute() / "journal"


def load(environment: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """Build the tree; `overrides` (by variable name) win over the environment, as flags do."""
    values = dict(os.environ if environment is None else environment)
    values.update({name: str(value) for name, value in overrides.items() if value is not None})
    problems: list[str] = []
    settings = _build(Settings, values, problems)
    if not problems:
        problems.extend(_pairs(settings))
    if problems:
        raise BadSettingsError(problems)
    return settings


def open_loopback(settings: Settings) -> Settings:
    """For `tidings up`: tenants may call this machine, where nobody but its own users can ask for it.

    That is where the sandbox runs, the API listens on loopback alone, and no address of its own says that a proxy stands before it.
    """
    http, channels = settings.http, settings.channels
    if (
        settings.sandbox.switch == "off"
        or channels.tenant_networks
        or http.host not in _LOOPBACK_HOSTS
        or http.public_url
    ):
        return settings
    return replace(settings, channels=replace(channels, tenant_networks=_LOOPBACK_NETWORKS))


def warnings(settings: Settings, environment: Mapping[str, str] | None = None) -> list[str]:
    """Choices that work and may surprise, each with its consequence."""
    known = [name for name, _, _ in describe()]
    found: list[str] = []
    for name in os.environ if environment is None else environment:
        if name.startswith("TIDINGS_") and name not in known and not name.startswith(_NOT_SETTINGS):
            close = difflib.get_close_matches(name, known, n=1)
            found.append(f"{name} is not a setting" + (f"; did you mean {close[0]}?" if close else ""))
    if settings.http.host not in _LOOPBACK_HOSTS and not settings.http.public_url:
        found.append(
            "TIDINGS_HOST opens the API to the network without TIDINGS_PUBLIC_URL: links will name the host"
        )
    return found


def secret_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that `env://` references may name, and no others."""
    given = os.environ if environment is None else environment
    return {name: value for name, value in given.items() if name.startswith("TIDINGS_SECRET_")}


def describe() -> list[tuple[str, str, str]]:
    """Every setting: variable, default, what it means."""
    return list(_describe(Settings))


def secret_names() -> frozenset[str]:
    """The variables whose values are never shown."""
    return frozenset(_secret_names(Settings))


def _secret_names(branch: type) -> Any:
    hints = get_type_hints(branch)
    for entry in fields(branch):
        if is_dataclass(hints[entry.name]):
            yield from _secret_names(hints[entry.name])
        elif hints[entry.name] == Secret | None:
            yield entry.metadata["env"]


def _describe(branch: type) -> Any:
    hints = get_type_hints(branch)
    for entry in fields(branch):
        if is_dataclass(hints[entry.name]):
            yield from _describe(hints[entry.name])
        else:
            yield entry.metadata["env"], _show(entry.default), entry.metadata["about"]


def _show(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
        unit = next(u for u in ("h", "m", "s") if seconds % _UNITS[u] == 0)
        return f"{int(seconds / _UNITS[unit])}{unit}"
    return str(value)


def _build(branch: type[T], values: Mapping[str, str], problems: list[str]) -> T:
    hints = get_type_hints(branch)
    chosen: dict[str, Any] = {}
    for entry in fields(branch):  # type: ignore[arg-type]  # a dataclass by construction
        kind = hints[entry.name]
        if is_dataclass(kind):
            chosen[entry.name] = _build(kind, values, problems)  # type: ignore[arg-type]
            continue
        name = entry.metadata["env"]
        raw = values.get(name, "").strip()
        if not raw:
            continue
        try:
            value = _convert(kind, raw)
        except ValueError as error:
            problems.append(f"{name} {error}{_but_was(kind, raw)}")
            continue
        check = entry.metadata["check"]
        complaint = check(value) if check else None
        if complaint:
            problems.append(f"{name} {complaint}{_but_was(kind, raw)}")
        chosen[entry.name] = value
    return branch(**chosen)


def _but_was(kind: Any, raw: str) -> str:
    # A URL may hold a password where none belongs.
    return "" if kind == Secret | None or "@" in raw else f", not {raw!r}"


def _convert(kind: Any, raw: str) -> Any:
    if kind is int:
        if not re.fullmatch(r"-?\d+", raw):
            raise ValueError("must be a whole number")
        return int(raw)
    if kind is timedelta:
        match = _DURATION.fullmatch(raw)
        if not match:
            raise ValueError("must be a duration such as 500ms, 30s, 5m, 2h or 1d")
        return timedelta(seconds=float(match[1]) * _UNITS[match[2]])
    if kind in (Path, Path | None):
        return Path(raw)
    if kind == Secret | None:
        return Secret(raw)
    return raw


def _pairs(settings: Settings) -> list[str]:
    problems: list[str] = []
    database = settings.database
    if database.pool_min > database.pool_max:
        problems.append("TIDINGS_DATABASE_POOL_MIN must not be larger than TIDINGS_DATABASE_POOL_MAX")
    vault = settings.vault
    if vault.url and (vault.token is None) == (vault.token_file is None):
        problems.append(
            "TIDINGS_VAULT_URL needs TIDINGS_VAULT_TOKEN or TIDINGS_VAULT_TOKEN_FILE, and not both"
        )
    auth = settings.auth
    if auth.jwks_url and not (auth.issuer and auth.audience):
        problems.append(
            "TIDINGS_JWKS_URL needs TIDINGS_JWT_ISSUER and TIDINGS_JWT_AUDIENCE, so that both are pinned"
        )
    if settings.oidc.issuer and not settings.oidc.client_id:
        problems.append(
            "TIDINGS_OIDC_ISSUER needs TIDINGS_OIDC_CLIENT_ID, by which the provider knows Tidings"
        )
    return problems
