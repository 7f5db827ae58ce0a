"""Tokens: signed by a known key, from the pinned issuer, for us, in time; everything else is refused."""

import base64
import hmac
import json
import threading
import warnings
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld, http_world
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.refusals import UnauthenticatedError
from tidings.kernel.token_keys import Jwks, KeysUnavailableError
from tidings.notify.access.jwt import JwtAuthenticator, JwtSettings

ISSUER, AUDIENCE = "https://login.example", "tidings"
RSA = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"})
EC = ECKey.generate_key("P-256", {"kid": "ec", "use": "sig"})
ED = OKPKey.generate_key("Ed25519", {"kid": "ed", "use": "sig"})
STRANGER = RSAKey.generate_key(2048, {"kid": "rsa"})
SHARED = OctKey.import_key("0" * 64, {"kid": "shared", "use": "sig", "alg": "HS256"})


class KeyServer:
    """A real HTTP server on loopback that publishes a key set and counts the questions."""

    def __init__(self) -> None:
        self.keys: list[Key] = [RSA, EC, ED]
        self.raw: bytes | None = None
        self.status = 200
        self.asked = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked += 1
                body = outer.raw if outer.raw is not None else outer.document()
                self.send_response(outer.status)
                self.send_header("content-length", str(len(body)))
                if outer.status == 302:
                    self.send_header("location", "/elsewhere")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/jwks.json"

    def document(self) -> bytes:
        return json.dumps(
            {"keys": [key.as_dict(private=isinstance(key, OctKey)) for key in self.keys]}
        ).encode()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def key_server() -> Iterator[KeyServer]:
    running = KeyServer()
    yield running
    running.stop()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture
def tokens(key_server: KeyServer, clock: ManualClock) -> JwtAuthenticator:
    return JwtAuthenticator(
        Jwks(key_server.url, clock=clock), settings=JwtSettings(issuer=ISSUER, audience=AUDIENCE), clock=clock
    )


def claims(clock: ManualClock, **changes: Any) -> dict[str, Any]:
    now = int(clock.now().timestamp())
    full = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "user-7",
        "exp": now + 300,
        "iat": now,
        "role": "platform.support",
        **changes,
    }
    return {name: value for name, value in full.items() if value is not ...}


def signed(payload: dict[str, Any], key: Key = RSA, algorithm: str = "RS256", **header: Any) -> str:
    head = {"alg": algorithm, "kid": key.kid, **header}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return jwt.encode(
            {k: v for k, v in head.items() if v is not None}, payload, key, algorithms=[algorithm]
        )


def unsigned(header: dict[str, Any], payload: dict[str, Any], signature: bytes = b"") -> str:
    parts = [json.dumps(header).encode(), json.dumps(payload).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "RS256"), (EC, "ES256"), (ED, "EdDSA")])
async def test_each_algorithm_of_the_list_is_taken(
    tokens: JwtAuthenticator, clock: ManualClock, key: Key, algorithm: str
) -> None:
    caller = await tokens.authenticate(signed(claims(clock), key, algorithm))

    assert (caller.kind, caller.id, caller.home, caller.role) == ("jwt", "user-7", None, "platform.support")
    assert "tenants:read" in caller.scopes
    assert "tenants:write" not in caller.scopes


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"},
        {"iss": ...},
        {"aud": "other"},
        {"aud": ["other"]},
        {"aud": ...},
        {"exp": 1},
        {"exp": ...},
        {"exp": "never"},
        {"exp": -31},
        {"nbf": 4_000_000_000},
        {"iat": 4_000_000_000},
        {"sub": ""},
        {"sub": ...},
        {"sub": "a\nb"},
        {"role": "root"},
        {"role": ...},
        {"role": "tenant.admin"},
        {"role": "tenant.admin", "tenant_id": "tnt_1"},
        {"tenant_id": "tnt_01M7FCWEYJ9BT7FZN9XC66BV19"},
        {"environment": "prod"},
        {"scope": ["tenants:read"]},
    ],
)
async def test_claims_that_do_not_fit_are_refused(
    tokens: JwtAuthenticator, clock: ManualClock, changes: dict[str, Any]
) -> None:
    with pytest.raises(UnauthenticatedError):
        await tokens.authenticate(signed(claims(clock, **changes)))


async def test_a_little_clock_skew_is_forgiven(tokens: JwtAuthenticator, clock: ManualClock) -> None:
    now = int(clock.now().timestamp())

    assert await tokens.authenticate(signed(claims(clock, exp=now - 20, nbf=now + 20, iat=now + 20)))
    with pytest.raises(UnauthenticatedError):
        await tokens.authenticate(signed(claims(clock, exp=now - 31)))


async def test_an_audience_may_be_one_of_several(tokens: JwtAuthenticator, clock: ManualClock) -> None:
    assert await tokens.authenticate(signed(claims(clock, aud=["other", AUDIENCE])))


async def test_scopes_are_narrowed_by_the_role(tokens: JwtAuthenticator, clock: ManualClock) -> None:
    caller = await tokens.authenticate(signed(claims(clock, scope="tenants:read tenants:write nonsense")))

    assert caller.scopes == {"tenants:read"}


async def test_forgeries_are_refused(
    tokens: JwtAuthenticator, clock: ManualClock, key_server: KeyServer
) -> None:
    key_server.keys = [RSA, EC, ED, SHARED]
    payload = claims(clock)
    good = signed(payload)
    head, _, signature = good.split(".")
    confused = unsigned({"alg": "HS256", "kid": "rsa"}, payload)
    mac = hmac.digest(RSA.as_pem(private=False), confused.rstrip(".").encode(), "sha256")
    confused += base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
    forgeries = [
        unsigned({"alg": "none", "kid": "rsa"}, payload),
        unsigned({"alg": "None", "kid": "rsa"}, payload),
        unsigned({"kid": "rsa"}, payload),
        unsigned({"alg": "RS256", "kid": "rsa"}, payload, b"x" * 256),
        unsigned({"alg": "ES256", "kid": "rsa"}, payload, b"x" * 64),
        unsigned({"alg": ["RS256"], "kid": {}}, payload),
        unsigned({"alg": "RS256", "kid": "rsa", "b64": False, "crit": ["b64"]}, payload),
        confused,
        signed(payload, SHARED, "HS256"),
        signed(payload, STRANGER),
        signed(payload, RSA, kid="unknown"),
        signed(payload, RSA, kid=None),
        ".".join([head, base64.urlsafe_b64encode(json.dumps(claims(clock, sub="admin")).encode()).rstrip(b"=").decode(), signature]),
        good[:-4] + "AAAA",
        good + ".x",
        "a.b.c",
        "....",
        "eyJ",
        "x" * 20_000,
    ]  # fmt: skip

    for forgery in forgeries:
        with pytest.raises(UnauthenticatedError) as refused:
            await tokens.authenticate(forgery)
        assert forgery not in str(refused.value)


async def test_a_new_key_is_fetched_when_a_token_names_it(
    tokens: JwtAuthenticator, clock: ManualClock, key_server: KeyServer
) -> None:
    await tokens.authenticate(signed(claims(clock)))
    fresh = RSAKey.generate_key(2048, {"kid": "fresh"})
    key_server.keys.append(fresh)
    await clock.advance(timedelta(seconds=11))

    caller = await tokens.authenticate(signed(claims(clock), fresh))

    assert caller.id == "user-7"
    assert key_server.asked == 2


async def test_made_up_key_ids_do_not_become_a_flood(
    tokens: JwtAuthenticator, clock: ManualClock, key_server: KeyServer
) -> None:
    for i in range(50):
        with pytest.raises(UnauthenticatedError):
            await tokens.authenticate(signed(claims(clock), RSA, kid=f"made-up-{i}"))

    assert key_server.asked == 1


async def test_known_keys_go_on_working_while_the_key_server_is_down(
    tokens: JwtAuthenticator, clock: ManualClock, key_server: KeyServer
) -> None:
    await tokens.authenticate(signed(claims(clock)))
    key_server.status = 500
    await clock.advance(timedelta(hours=2))

    caller = await tokens.authenticate(signed(claims(clock)))

    assert caller.id == "user-7"
    assert key_server.asked == 2


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{}",
        b'{"keys": []}',
        b'{"keys": 3}',
        b'{"keys": [{"kty": "oct", "k": "AA", "kid": "x"}]}',
    ],
)
async def test_without_any_keys_the_answer_is_unavailable(
    tokens: JwtAuthenticator, clock: ManualClock, key_server: KeyServer, raw: bytes
) -> None:
    key_server.raw = raw

    with pytest.raises(KeysUnavailableError):
        await tokens.authenticate(signed(claims(clock)))


async def test_a_redirect_is_not_followed(
    tokens: JwtAuthenticator, clock: ManualClock, key_server: KeyServer
) -> None:
    key_server.status = 302

    with pytest.raises(KeysUnavailableError):
        await tokens.authenticate(signed(claims(clock)))


async def test_keys_may_come_from_a_file(tmp_path: Path, clock: ManualClock, key_server: KeyServer) -> None:
    file = tmp_path / "jwks.json"
    file.write_bytes(key_server.document())
    tokens = JwtAuthenticator(
        Jwks(file.as_uri(), clock=clock), settings=JwtSettings(issuer=ISSUER, audience=AUDIENCE), clock=clock
    )

    assert await tokens.authenticate(signed(claims(clock)))


def test_other_addresses_are_refused(clock: ManualClock) -> None:
    with pytest.raises(NotConfiguredError):
        Jwks("ftp://keys.example", clock=clock)


async def test_a_token_opens_the_api_for_its_tenant_alone(
    db: Database, tokens: JwtAuthenticator, clock: ManualClock
) -> None:
    world: HttpWorld = http_world(db, clock=clock, tokens=tokens)
    ours, theirs = await world.tenant(), await world.tenant()
    token = signed(claims(clock, role="tenant.admin", tenant_id=ours.id))

    async with world.client(token) as client:
        own = await client.get("/api/v1/tenant")
        made = await client.post("/api/v1/api-keys", json={"name": "x", "role": "tenant.viewer"})
        other = await client.get("/api/v1/tenant", headers={"X-Tenant-Id": theirs.id})
        platform = await client.get("/internal/v1/tenants")
    unknown = signed(claims(clock, role="tenant.admin", tenant_id="tnt_01M7FCWEYJ9BT7FZN9XC66BV19"))
    async with world.client(unknown) as client:
        nowhere = await client.get("/api/v1/tenant")

    assert own.json()["caller"]["kind"] == "jwt"
    assert made.json()["key"]["created_by"] == "jwt:user-7"
    assert (other.status_code, platform.status_code) == (403, 403)
    assert (nowhere.status_code, nowhere.json()["code"]) == (403, "not_allowed")


async def test_a_test_token_makes_no_keys(db: Database, tokens: JwtAuthenticator, clock: ManualClock) -> None:
    world = http_world(db, clock=clock, tokens=tokens)
    tenant = await world.tenant()
    token = signed(claims(clock, role="tenant.admin", tenant_id=tenant.id, environment="test"))

    async with world.client(token) as client:
        live = await client.post("/api/v1/api-keys", json={"name": "x", "role": "tenant.viewer"})

    assert (live.status_code, live.json()["code"]) == (403, "test_key")
