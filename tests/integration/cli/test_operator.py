"""`tidings operator`: invites and looks after operators straight on the database."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.cli import Types, typing_in
from tests.support.http import http_over
from tests.support.postgres import TestDatabase
from tests.support.system import SHARED, system_over
from tidings.backoffice.operators import store
from tidings.kernel.ids import TenantId


@pytest.fixture
def types(
    worker_database: TestDatabase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Types:
    return typing_in(Path(SHARED.name), monkeypatch, capsys, TIDINGS_DATABASE_URL=worker_database.runtime_url)


def in_thread(types: Types, *words: str) -> "asyncio.Future[object]":
    return asyncio.get_running_loop().run_in_executor(None, lambda: types(*words))


async def typed(types: Types, *words: str, code: int = 0) -> str:
    printed = await in_thread(types, "operator", *words)
    assert printed.code == code, printed  # type: ignore[attr-defined]
    return str(printed.out if code == 0 else printed.err)  # type: ignore[attr-defined]


@pytest.fixture
async def tenant_id(worker_database: TestDatabase) -> TenantId:
    async with worker_database.opened() as db:
        return (await http_over(system_over(db)).tenant()).id


async def test_an_operator_is_invited_listed_and_looked_after(
    types: Types, tenant_id: TenantId, worker_database: TestDatabase
) -> None:
    of = ("--tenant", tenant_id)
    mail = f"laila.{tenant_id[-8:].lower()}@example.com"
    invited = json.loads(
        await typed(types, "invite", *of, "--email", mail, "--role", "tenant.support", "--json")
    )
    assert "/console/join/" in invited["join_url"]
    assert invited["role"] == "tenant.support"

    assert mail in await typed(types, "list", *of)
    assert "is disabled" in await typed(types, "disable", mail, *of)
    assert "disabled already" in await typed(types, "disable", mail, *of, code=1)
    assert "is invited" in await typed(types, "enable", invited["id"], *of)
    assert "not locked" in await typed(types, "unlock", mail, *of, code=1)
    assert "not active" in await typed(types, "link", mail, *of, code=1)
    anew = json.loads(await typed(types, "reset-mfa", mail, *of, "--json"))
    assert anew["join_url"] != invited["join_url"]
    async with worker_database.opened() as db, db.tenant(tenant_id) as tx:
        operator = await store.find_operator(tx, operator_id=invited["id"])
        rows = await system_over(db).kernel.backoffice_audit.read_recent(tx, entity_type="operator")
    assert operator is not None
    assert [row.action for row in rows] == ["mfa.reset", "enabled", "disabled", "invited"]
    assert {row.actor.partition(":")[0] for row in rows} == {"cli"}
    assert mail not in str(rows)


async def test_an_operator_is_invited_with_properties_and_given_others(
    types: Types, tenant_id: TenantId, worker_database: TestDatabase
) -> None:
    of = ("--tenant", tenant_id)
    clerk = f"clerk.{tenant_id[-8:].lower()}@example.com"
    await typed(types, "invite", *of, "--email", f"x{clerk}")
    await typed(types, "invite", *of, "--email", f"y{clerk}", "--role", "tenant.viewer")
    await typed(
        types,
        "invite",
        *of,
        "--email",
        clerk,
        "--role",
        "tenant.support",
        "--property",
        "b",
        "--property",
        "a",
    )
    listed = json.loads(await typed(types, "list", *of, "--json"))
    assert [one["properties"] for one in listed] == [["a", "b"], [], ["*"]]

    assert "*" in await typed(types, "properties", clerk, *of, "--property", "*")
    assert "none" in await typed(types, "properties", clerk, *of)
    assert "must be a property's id" in await typed(
        types, "properties", clerk, *of, "--property", "a b", code=1
    )


async def test_what_is_typed_wrong_is_told(types: Types, tenant_id: TenantId) -> None:
    assert "say whose operator" in await typed(types, "list", code=1)
    assert "--email" in await typed(types, "invite", "--tenant", tenant_id, "--email", "no mail", code=1)
    assert "--role" in await typed(
        types,
        "invite",
        "--tenant",
        tenant_id,
        "--email",
        "a@example.com",
        "--role",
        "platform.support",
        code=1,
    )
    assert "OPERATOR must be" in await typed(types, "disable", "laila", "--tenant", tenant_id, code=1)
    assert "no operator with this mail" in await typed(
        types, "unlock", "x@example.com", "--tenant", tenant_id, code=1
    )
