"""`tidings callbacks`, as an operator types it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.integration.router.callbacks.conftest import CallbackWorld, event, events
from tests.support.postgres import TestDatabase
from tidings.cli import callbacks
from tidings.kernel.db import PlatformTx
from tidings.kernel.durable import dead_letters
from tidings.kernel.errors import TidingsError
from tidings.kernel.ids import TenantId
from tidings.router.callbacks import store

UNKNOWN = "whe_01JCQ000000000000000000000"
Command = Callable[..., Awaitable[Result]]


@pytest.fixture
def command(fresh_database: TestDatabase, tmp_path: Path) -> Command:
    """Runs `tidings callbacks …` against this file's database."""
    environment = {
        "TIDINGS_DATA_DIR": str(tmp_path / "data"),
        "TIDINGS_DATABASE_URL": fresh_database.runtime_url,
    }

    async def run(*words: str) -> Result:
        return await asyncio.to_thread(CliRunner().invoke, callbacks.app, list(words), env=environment)

    return run


@pytest.fixture
async def called(world: CallbackWorld, tmp_path: Path) -> CallbackWorld:
    """The world over the keys and objects that the commands find; two callbacks died and one was forged."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    made = CallbackWorld(world.db, folder)
    account = await made.account(None)
    for name in ("m-1", "m-2"):
        await made.post(account, events(event(name, reason="to +1 500 555 0199")))
        await made.later(seconds=1)
    async with made.db.worker() as tx:
        await tx.connection.execute("UPDATE chan.webhook_inbound_events SET status = 'dlq'")
        await tx.connection.execute("UPDATE chan.webhook_inbound SET status = 'dlq'")
    forged = events(event("m-3"))
    await made.post(account, forged, headers=made.signed(forged, secret="a-guess-of-some-length"))
    return made


async def test_looking(called: CallbackWorld, command: Command) -> None:
    first, second = [row["id"] for row in await called.events()]

    listed = await command("list")
    as_json = await command("list", "--json", "--vendor", "http", "--since", "2026-01-01T00:00:00Z")
    nothing = await command("list", "--vendor", "smtp")
    refused = await command("list", "--status", "refused", "--json")
    shown = await command("show", first)
    [request] = json.loads(refused.stdout)
    shown_request = await command("show", request["id"])

    assert [line.split()[0] for line in listed.stdout.splitlines()] == [second, first]
    assert [one["vendor_message_id"] for one in json.loads(as_json.stdout)] == ["m-2", "m-1"]
    assert nothing.stdout == "there are none\n"
    assert (request["reason"], request["signed"]) == ("mismatch", False)
    assert json.loads(shown.stdout)["means"] == "delivered"
    assert json.loads(shown_request.stdout) == request
    assert "0199" not in listed.stdout + as_json.stdout + shown.stdout


async def test_reading_the_body(called: CallbackWorld, command: Command) -> None:
    [first, _] = [row["id"] for row in await called.events()]

    read = await command("show", first, "--body")

    assert json.loads(read.stdout)["events"][0]["reason"] == "to +1 500 555 0199"
    async with called.db.platform() as tx:
        audited = await tx.connection.fetch(
            "SELECT action, actor FROM chan.audit WHERE entity_id = $1", first
        )
    assert [row["action"] for row in audited] == ["body.read"]
    assert audited[0]["actor"].startswith("cli:")


async def test_trying_again(called: CallbackWorld, command: Command, tenant_id: TenantId) -> None:
    [first, second] = [row["id"] for row in await called.events()]
    account = (await called.requests())[0]["adapter"]
    attempt = await called.attempt(tenant_id, account, message_id="m-2")

    by_id = await command("requeue", first)
    again = await command("requeue", first, UNKNOWN)
    nobodys = await command("requeue", "--vendor", "nope")
    rest = await command("requeue", "--vendor", "http")
    # The commands go by the real clock, which may be ahead of this world's.
    await called.later(minutes=1)
    await called.job().drain()

    assert by_id.stdout == "requeued: 1\n"
    assert nobodys.stdout == (
        "there are no dead ones of nope; `tidings callbacks list` shows those there are\nrequeued: 0\n"
    )
    assert f"{first}: it is not dead, its message is looked for again at 20" in again.stdout
    assert f"{UNKNOWN}: there is no such event, or it has found its message" in again.stdout
    assert again.stdout.endswith("requeued: 0\n")
    assert rest.stdout == "requeued: 1\n"
    assert {row["id"]: row["status"] for row in await called.events()} == {
        first: "late_correlate",
        second: "applied",
    }
    assert [r["attempt_id"] for r in await called.receipts(tenant_id)] == [attempt.id]


async def test_each_portion_is_printed_when_it_is_done(
    called: CallbackWorld, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one fails, and the first stands printed."""
    [first, _] = [row["id"] for row in await called.events()]
    monkeypatch.setattr(dead_letters, "MOST_AT_ONCE", 1)
    announced: list[PlatformTx] = []

    async def announce_once(tx: PlatformTx) -> None:
        if announced:
            raise ConnectionError("the database is gone")
        announced.append(tx)

    monkeypatch.setattr(store, "announce", announce_once)

    done = await command("requeue", UNKNOWN, first)

    assert isinstance(done.exception, ConnectionError)
    assert done.stdout == f"{UNKNOWN}: there is no such event, or it has found its message\n"
    assert done.stderr == "tidings: requeued so far: 0\n"
    assert {row["status"] for row in await called.events()} == {"dlq"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "ntf_1"), "the id of an event, whe_…, or of a refused request, whi_…"),
        (("show", "whi_01JCQ000000000000000000000"), "No request with this id is kept"),
        (("requeue", "whe_x"), "whe_x is not the id of an event, whe_…"),
        (("requeue", "mo_x"), "`tidings callbacks messages` show those"),
        (("show", "mo_x"), "`tidings callbacks messages` shows"),
        (("show", "whe_01JCQ000000000000000000000"), "its tenant's"),
        (("requeue",), "--vendor VENDOR"),
        (("requeue", "whe_01JCQ000000000000000000000", "--messages"), "--vendor VENDOR [--messages]"),
        (("requeue", "whe_01JCQ000000000000000000000", "--vendor", "http"), "--vendor VENDOR"),
        (("list", "--since", "yesterday"), "2026-11-15T12:00:00Z"),
        (("list", "--since", "2026-11-15T12:00:00"), "offset"),
    ],
)
async def test_mistakes(world: CallbackWorld, command: Command, words: tuple[str, ...], said: str) -> None:
    result = await command(*words)

    assert result.exit_code == 1
    assert result.exception is not None
    assert said in str(result.exception)
    assert isinstance(result.exception, TidingsError) or type(result.exception).__name__ == "CommandError"
