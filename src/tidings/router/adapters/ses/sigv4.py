"""AWS Signature Version 4 in a header: what proves a request to Amazon."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, quote, urlsplit

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The credentials that sign a request."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    #: Of credentials that are good for a while only.
    session_token: str | None = field(default=None, repr=False)


def signed(
    credentials: Credentials,
    *,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    region: str,
    service: str,
    at: datetime,
) -> dict[str, str]:
    """The headers with those that prove them, the method, the address and the body. `at` is in UTC."""
    parts = urlsplit(url)
    moment = at.strftime("%Y%m%dT%H%M%SZ")
    found = {**headers, "X-Amz-Date": moment}
    if credentials.session_token is not None:
        found["X-Amz-Security-Token"] = credentials.session_token
    covered = {name.lower(): " ".join(value.split()) for name, value in found.items()}
    covered["host"] = _host(url)
    names = ";".join(sorted(covered))
    canonical = "\n".join(
        [
            method,
            # Of every service but S3 the path is encoded a second time.
            quote(parts.path or "/", safe="/-_.~"),
            _query(parts.query),
            *(f"{name}:{covered[name]}" for name in sorted(covered)),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        ]
    )
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join([_ALGORITHM, moment, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = signing_key(credentials.secret_access_key, moment[:8], region, service)
    signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    found["Authorization"] = (
        f"{_ALGORITHM} Credential={credentials.access_key_id}/{scope}, "
        f"SignedHeaders={names}, Signature={signature}"
    )
    return found


@lru_cache(maxsize=64)
def signing_key(secret: str, day: str, region: str, service: str) -> bytes:
    """The key of one day, region and service."""
    key = f"AWS4{secret}".encode()
    for word in (day, region, service, "aws4_request"):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    return key


def _query(query: str) -> str:
    pairs = [
        (quote(n, safe="-_.~"), quote(v, safe="-_.~")) for n, v in parse_qsl(query, keep_blank_values=True)
    ]
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def _host(url: str) -> str:
    """As the connection sends it: with the port only where it is not the usual one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return host if parts.port in {None, _PORTS.get(parts.scheme)} else f"{host}:{parts.port}"
