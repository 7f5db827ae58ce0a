"""Reads the URL of a NATS server or cluster. The client is not imported here: settings are checked without it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote

from tidings.kernel.errors import BadValueError
from tidings.kernel.secrets import Secret

SCHEMES: Final = ("nats", "tls")
_FIELD: Final = "TIDINGS_BUS_URL"
_FORM: Final = "must be postgres: or a URL of the form nats://user:password@host:4222,host:4222?prefix=tidings (also tls://)"
_HOST = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")
_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,60}")
_REFERENCE = re.compile(r"(?:env|file|vault)://\S+")
_REFERENCES: Final = ("password", "token", "credentials", "nkey")
_FILES: Final = ("ca", "cert", "key")


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsAddress:
    """Where NATS is, how to log in there, and what our stream is like."""

    #: One URL for each server, without the login: `nats://host:4222`.
    servers: tuple[str, ...]
    user: str | None = None
    #: What the URL itself says; the references below say where a secret is.
    password: Secret | None = None
    token: Secret | None = None
    password_ref: str | None = None
    token_ref: str | None = None
    #: A user's credentials file, with its JWT and its seed.
    credentials_ref: str | None = None
    #: The seed of an nkey.
    nkey_ref: str | None = None
    #: Whose certificates to believe, and our own; files.
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    #: The name of the stream, and the first word of its subjects.
    prefix: str = "tidings"
    #: Copies of the stream in the cluster; None leaves them as they are, one in a new stream.
    replicas: int | None = None
    #: `memory` forgets everything with the last server, and is for tests.
    storage: str = "file"

    @property
    def tls(self) -> bool:
        """Whether the connection has to be encrypted."""
        return self.servers[0].startswith("tls:") or any((self.ca, self.cert, self.key))


def parse_address(url: Secret) -> NatsAddress:
    """The parts of the URL; a `BadValueError` with the remedy, which quotes nothing of it."""
    scheme, separator, rest = url.reveal().partition("://")
    before, _, query = rest.partition("?")
    login, at, hosts = before.rpartition("@")
    if scheme not in SCHEMES or not separator or not hosts:
        raise BadValueError(_FIELD, _FORM)
    options = _options(query)
    user, colon, password = login.partition(":")
    return NatsAddress(
        servers=tuple(_server(scheme, host) for host in hosts.rstrip("/").split(",")),
        user=unquote(user) if colon or "password" in options else None,
        password=Secret(unquote(password)) if colon else None,
        token=Secret(unquote(user)) if at and not colon and "password" not in options else None,
        **{f"{name}_ref": options[name] for name in _REFERENCES if name in options},  # type: ignore[arg-type]
        **{name: Path(options[name]) for name in _FILES if name in options},  # type: ignore[arg-type]
        prefix=options.get("prefix", "tidings"),
        replicas=int(options["replicas"]) if "replicas" in options else None,
        storage=options.get("storage", "file"),
    )


def _server(scheme: str, host: str) -> str:
    match = _HOST.fullmatch(host.strip())
    if match is None or (match[1] and not 0 < int(match[1]) < 65536):
        raise BadValueError(_FIELD, _FORM)
    return f"{scheme}://{host.strip()}" + ("" if match[1] else ":4222")


def _options(query: str) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    known = {*_REFERENCES, *_FILES, "prefix", "replicas", "storage"}
    if unknown := sorted(set(options) - known):
        raise BadValueError(
            _FIELD, f"has an option that is not known ({unknown[0][:40]}); known: {', '.join(sorted(known))}"
        )
    if not _PREFIX.fullmatch(options.get("prefix", "tidings")):
        raise BadValueError(_FIELD, "has a prefix that is no word of letters, digits, - and _")
    if options.get("replicas", "1") not in {"1", "2", "3", "4", "5"}:
        raise BadValueError(_FIELD, "has replicas that are no number from 1 to 5")
    if options.get("storage", "file") not in {"file", "memory"}:
        raise BadValueError(_FIELD, "has a storage that is neither file nor memory")
    if any(not _REFERENCE.fullmatch(options[name]) for name in _REFERENCES if name in options):
        raise BadValueError(
            _FIELD,
            "has a secret where a reference belongs: password, token, credentials and nkey are env://TIDINGS_SECRET_…, "
            "file://… or vault://…",
        )
    return options
