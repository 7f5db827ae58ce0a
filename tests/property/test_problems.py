"""Whatever arrives at a write route, the answer is a problem that helps, and never a 500."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.http import HttpWorld, http_world
from tests.support.postgres import TestDatabase, TestServer
from tidings.kernel.db import Database

_ID = "01M7FCWEYJ9BT7FZN9XC66BV19"


class Surface:
    """One application for all examples, on a loop of its own: hypothesis calls a plain function many times."""

    def __init__(self, server: TestServer) -> None:
        self._loop = asyncio.new_event_loop()
        self._cloned = server.clone()
        self._loop.run_until_complete(self._open())

    async def _open(self) -> None:
        database: TestDatabase = await self._cloned.__aenter__()
        self._db = Database(database.runtime_url)
        await self._db.open()
        self.world: HttpWorld = http_world(self._db)
        self.tenant = await self.world.tenant()
        _, self._own = await self.world.key(self.tenant.id)
        _, self._platform = await self.world.key(None)

    def writes(self) -> list[tuple[str, str]]:
        return sorted(
            (route.method, route.path)
            for route in self.world.app.routes
            # A verification takes no body and names nothing: there is nothing to be wrong about.
            if route.method not in ("GET", "HEAD") and not route.path.endswith("/audit/verify")
        )

    def call(self, method: str, path: str, content: bytes, headers: dict[str, str]) -> httpx2.Response:
        return self._loop.run_until_complete(self._call(method, path, content, headers))

    async def _call(self, method: str, path: str, content: bytes, headers: dict[str, str]) -> httpx2.Response:
        async with self._client(path) as client:
            return await client.request(method, path, content=content, headers=headers)

    @asynccontextmanager
    async def _client(self, path: str) -> AsyncIterator[httpx2.AsyncClient]:
        carried = self._platform if path.startswith("/internal") else self._own
        async with self.world.client(carried) as client:
            yield client

    def close(self) -> None:
        async def close() -> None:
            await self._db.close()
            await self._cloned.__aexit__(None, None, None)

        self._loop.run_until_complete(close())
        self._loop.close()


@pytest.fixture(scope="module")
def surface(server: TestServer) -> Iterator[Surface]:
    opened = Surface(server)
    yield opened
    opened.close()


#: Pages for people, who are answered in words.
_PAGES = ("/u/", "/p/", "/c/", "/portal/", "/console/")


def check(answer: httpx2.Response) -> None:
    if answer.request.url.path.startswith("/console/") and answer.status_code == 303:
        assert answer.headers["location"].startswith("/console/sign-in"), "nobody is signed in"
        return
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text)
    if answer.request.url.path.startswith(_PAGES) and answer.headers["content-type"].startswith("text/html"):
        assert "<main" in answer.text
        # The console has one script, a file of our own; the other pages have none.
        own = "script-src 'self';" if answer.request.url.path.startswith("/console/") else "script-src 'none'"
        assert "script" not in answer.headers["content-security-policy"].replace(own, "")
        return
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["code"] not in ("internal", "bad_request")
    assert problem["request_id"] == answer.headers["x-request-id"]
    if problem["code"] == "bad_value":
        assert all(error["remedy"] for error in problem["errors"])
        assert problem["errors"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
#: Names and words that the routes know, so that garbage gets past the first check.
names = st.sampled_from(
    ["name", "slug", "role", "scopes", "environment", "expires_at", "overlap_seconds", "reason", "region", "weight",
     "default_locale", "default_timezone", "notification_policy", "theme_etag", "limits", "quiet_hours"]
)  # fmt: skip
words = st.sampled_from(
    ["x", "tenant.admin", "tenant.viewer", "live", "test", "en-US", "UTC", "Europe/Berlin", "2999-01-01T00:00:00Z",
     "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "notifications:read", "\x00", "\ud800", "﷽", "a" * 300]
)  # fmt: skip
near_misses = st.dictionaries(names, json_values | words | st.lists(words, max_size=3), max_size=6).map(
    lambda body: {**body, "surely_unknown": 1}
)
ids = st.sampled_from([_ID, "x", "%00", "%F0%9F%98%80", "'--", "A" * 500])
quick = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def written(value: Any) -> bytes:
    return json.dumps(value).encode()


@quick
@given(data=st.data())
def test_random_bytes_never_surprise_us(surface: Surface, data: st.DataObject) -> None:
    method, path = data.draw(st.sampled_from(surface.writes()))
    if method == "DELETE":
        return
    # Never an object, so that no route can find it acceptable; an empty body is fine for some.
    content = data.draw(st.binary(min_size=1, max_size=300).map(lambda raw: b"[" + raw))

    check(surface.call(method, filled(path, _ID), content, {"content-type": "application/json"}))


@quick
@given(data=st.data())
def test_random_json_never_surprises_us(surface: Surface, data: st.DataObject) -> None:
    method, path = data.draw(st.sampled_from(surface.writes()))
    if method == "DELETE":
        return
    body = data.draw(near_misses | json_values.filter(lambda value: value != {}))
    if isinstance(body, dict):
        body = {**body, "surely_unknown": 1}

    headers = {"content-type": "application/json", "if-match": "*"}
    check(surface.call(method, filled(path, data.draw(ids)), written(body), headers))


texts = words | st.text(max_size=220)
acceptable = st.fixed_dictionaries(
    {"name": texts, "slug": st.from_regex(r"[a-z][a-z0-9]{8,30}", fullmatch=True)},
    optional={
        "theme_etag": texts,
        "region": texts,
        "default_locale": texts,
        "default_timezone": texts,
        "weight": st.integers(),
    },
)


@quick
@given(body=acceptable)
def test_what_looks_acceptable_is_taken_or_refused_and_never_breaks(
    surface: Surface, body: dict[str, Any]
) -> None:
    answer = surface.call("POST", "/internal/v1/tenants", written(body), {"content-type": "application/json"})

    if answer.status_code == 201:
        assert answer.json()["name"] == body["name"]
    else:
        check(answer)


@quick
@given(name=texts, expires_at=words, scopes=st.lists(texts, max_size=3))
def test_the_same_for_keys(surface: Surface, name: str, expires_at: str, scopes: list[str]) -> None:
    body = {"name": name, "role": "tenant.admin", "expires_at": expires_at, "scopes": scopes or None}

    answer = surface.call("POST", "/api/v1/api-keys", written(body), {"content-type": "application/json"})

    if answer.status_code == 201:
        assert answer.json()["key"]["name"] == name
    else:
        check(answer)


header_texts = st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=60)


@quick
@given(data=st.data())
def test_random_headers_never_surprise_us(surface: Surface, data: st.DataObject) -> None:
    method, path = data.draw(st.sampled_from(surface.writes()))
    headers = {
        name: data.draw(header_texts)
        for name in data.draw(
            st.sets(st.sampled_from(["if-match", "idempotency-key", "x-tenant-id", "content-type", "x-request-id", "traceparent"]))
        )
    }  # fmt: skip
    # A tenant or key that does not exist: also what is well-formed is refused.
    raw = {name: value.encode("latin-1") for name, value in headers.items()}

    answer = surface.call(method, filled(path, _ID), b'{"surely_unknown": 1}', raw)  # type: ignore[arg-type]

    check(answer)


def filled(path: str, some_id: str) -> str:
    return (
        path.replace("{key_id}", "key_" + some_id if some_id == _ID else some_id)
        .replace("{tenant_id}", "tnt_" + some_id if some_id == _ID else some_id)
    )  # fmt: skip
