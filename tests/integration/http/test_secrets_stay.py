"""A secret is in the answer that creates its key, and nowhere else."""

import logging
from collections.abc import Iterator

import pytest
import structlog

from tests.support.http import HttpWorld, http_world
from tests.support.postgres import TestDatabase
from tidings.kernel import logs
from tidings.kernel.db import Database

KEYS = "/api/v1/api-keys"


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """The tests here log as the product does; afterwards it is as before."""
    root = logging.getLogger()
    handlers, level, before = list(root.handlers), root.level, structlog.get_config()
    yield
    structlog.configure(**before)
    root.handlers[:] = handlers
    root.setLevel(level)


async def test_no_secret_in_logs_errors_rows_or_later_answers(
    db: Database, worker_database: TestDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(level="debug", style="json")
    world: HttpWorld = http_world(db)
    tenant = await world.tenant()
    answers: list[str] = []

    async with world.as_tenant(tenant.id) as admin:
        made = (await admin.post(KEYS, json={"name": "x", "role": "tenant.admin"})).json()
        rotated = (await admin.post(f"{KEYS}/{made['key']['id']}/rotate", json={})).json()
        for path in (KEYS, f"{KEYS}/{made['key']['id']}", "/api/v1/tenant"):
            answers.append((await admin.get(path)).text)
        answers.append((await admin.delete(f"{KEYS}/{made['key']['id']}")).text)
    carried = [made["api_key"], rotated["api_key"]]
    secrets = [one.rsplit("_", 1)[1] for one in carried]
    for one in carried:
        async with world.client(one) as client:
            answers += [
                (await client.get("/api/v1/tenant")).text,
                (await client.get(f"/{one}")).text,
                (await client.get(KEYS, params={"cursor": one})).text,
                (await client.post(KEYS, json={"name": one, "role": one, one: 1})).text,
            ]
    async with worker_database.owner() as connection:
        tables = await connection.fetch(
            "SELECT c.oid::regclass::text AS name FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname IN ('notification', 'kernel')"
        )
        await connection.execute("SET ROLE tidings_breakglass")
        rows = ""
        for table in (row["name"] for row in tables if row["name"].startswith("notification.")):
            found = await connection.fetch(
                f"SELECT t::text AS row FROM {table} AS t WHERE t::text LIKE '%{tenant.id}%'"
            )
            rows += "".join(row["row"] for row in found)
    printed = capsys.readouterr()

    assert made["key"]["id"] in rows
    # A request may be told its own words back: the path it asked for, the field it invented.
    own_words = [text for text in answers if any(one in text for one in carried)]
    for secret in secrets:
        assert secret not in rows
        assert secret not in printed.out + printed.err
        for text in answers:
            assert secret not in text or text in own_words
    assert all('"instance":"/tdk_' in text or "is not a known field" in text for text in own_words)


async def test_an_unexpected_error_is_logged_without_the_credential(
    worker_database: TestDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(level="debug", style="json")
    async with worker_database.opened() as db:
        world = http_world(db)
        tenant = await world.tenant()
        _, carried = await world.key(tenant.id)

    async with world.client(carried) as client:
        answer = await client.get("/api/v1/tenant")
    printed = capsys.readouterr()

    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert answer.headers["retry-after"] == "1"
    assert carried.rsplit("_", 1)[1] not in printed.out + printed.err + answer.text
    assert answer.headers["x-request-id"] in printed.err
