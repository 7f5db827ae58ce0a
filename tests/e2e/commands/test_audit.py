"""`tidings audit` over a running house, before and after somebody has been at it."""

import asyncio
import json
from collections.abc import Iterator

import asyncpg
import pytest

from tests.e2e.commands.conftest import Operator, operating
from tidings.operations.embedded import DataDir


@pytest.fixture(scope="module")
def operator() -> Iterator[Operator]:
    """One whose audit is not relied on by others: it is tampered with."""
    with operating() as somebody:
        yield somebody


def owner_url(operator: Operator) -> str:
    running = operator.running
    password = DataDir(running.data_dir).secret("tidings_owner_password")
    return f"postgresql://tidings_owner:{password}@{running.demo['database_url'].rpartition('@')[2]}"


def tamper(operator: Operator, statement: str) -> str:
    """As somebody with the owner's password would."""

    async def run() -> str:
        connection = await asyncpg.connect(owner_url(operator))
        try:
            await connection.execute("ALTER TABLE notification.audit NO FORCE ROW LEVEL SECURITY")
            await connection.execute("ALTER TABLE notification.audit DISABLE TRIGGER USER")
            found: str = await connection.fetchval(statement)
            await connection.execute("ALTER TABLE notification.audit ENABLE TRIGGER USER")
            await connection.execute("ALTER TABLE notification.audit FORCE ROW LEVEL SECURITY")
            return found
        finally:
            await connection.close()

    return asyncio.run(run())


def test_a_tampered_row_is_named(operator: Operator) -> None:
    """The audit is whole, then signed, then changed behind its back: the row is named."""
    operator.reads("tenant", "create", "acme")
    assert "the audit is as it was written" in operator.reads("audit", "verify")
    assert "notification: anc_" in operator.reads("audit", "anchor")
    shown_rows = operator.reads("audit", "tail", "--json", "--lines", "1000").splitlines()
    tail = [json.loads(line) for line in shown_rows]
    assert [row["action"] for row in tail if row["entity_type"] == "tenant"] == ["created", "created"]

    changed = tamper(
        operator,
        "UPDATE notification.audit SET actor = 'nobody' WHERE entity_type = 'tenant' AND seq = 2 RETURNING id",
    )

    shown, told = operator.types("audit", "verify"), operator.types("audit", "verify", "--json")
    assert (shown.returncode, told.returncode) == (1, 1)
    assert changed in shown.stdout
    assert "ALTERED" in shown.stdout
    assert "Traceback" not in shown.stderr + told.stderr
    assert changed in {json.loads(line)["id"] for line in told.stdout.splitlines()}
