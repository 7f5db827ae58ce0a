"""`tidings keys`, as an operator runs it."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from tests.integration.keys.conftest import recipients
from tests.support.cli import Types, typing_in
from tests.support.postgres import TestDatabase
from tests.support.running import TIDINGS, clean_environment
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.key_file import LocalKeyFileKms
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.status import key_status


class Commands:
    """Runs `tidings keys …` against one database and key file."""

    def __init__(self, folder: Path, environment: dict[str, str], types: Types) -> None:
        self.kms = LocalKeyFileKms(folder / "keys" / "master.json")
        self._environment = environment | {"TIDINGS_DATA_DIR": str(folder)}
        self._types = types

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        """In a process of its own."""
        return await asyncio.create_subprocess_exec(
            *TIDINGS, "keys", *arguments, env=clean_environment(**self._environment),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip

    async def run(self, *arguments: str) -> tuple[int, str, str]:
        """To its end."""
        said = await asyncio.to_thread(self._types, "keys", *arguments)
        return said.code, said.out, said.err


@pytest.fixture
def commands(
    fresh_database: TestDatabase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Commands:
    environment = {"TIDINGS_DATABASE_URL": fresh_database.runtime_url, "COLUMNS": "200"}
    return Commands(tmp_path, environment, typing_in(tmp_path, monkeypatch, capsys, **environment))


@pytest.fixture
async def keyring(commands: Commands) -> Keyring:
    return Keyring(commands.kms, clock=SystemClock())


async def test_rotating_by_command(
    fresh_db: Database, commands: Commands, keyring: Keyring, tenant_id: TenantId
) -> None:
    """Dry runs change nothing; the real ones say what they did; the status follows."""
    people = recipients(7)
    async with fresh_db.tenant(tenant_id) as tx:
        box = (await keyring.data_keys(tx, people))[people[0]].seal(b"x", "p")
    first = await commands.kms.current_key_id()

    _, planned, _ = await commands.run("rotate-tenant", tenant_id, "--dry-run")
    _, planned_master, _ = await commands.run("rotate-master", "--dry-run")
    assert "would wrap 7" in planned
    assert "would wrap 1" in planned_master
    assert await commands.kms.current_key_id() == first

    code, said, _ = await commands.run("rotate-tenant", tenant_id)
    assert (code, "version 2 is in use, 7 keys" in said, "1 older version retired" in said) == (0, True, True)
    code, said, _ = await commands.run("rotate-master")
    second = await commands.kms.current_key_id()
    assert (code, f"{second} is in use: 2 tenant keys" in said) == (0, True)
    code, said, _ = await commands.run("status", "--json")
    assert (code, json.loads(said)) == (
        0,
        {
            "master_key_id": second,
            "by_master": {second: {"tenant_keys": 2, "platform_keys": 0}},
            "unfinished": {},
            "missing": [],
        },
    )
    code, said, _ = await commands.run("status")
    assert (code, second in said, first in said) == (0, True, False)
    async with fresh_db.tenant(tenant_id) as tx:
        assert (await keyring.data_key(tx, people[0])).unseal(box, "p") == b"x"


async def test_a_lost_key_file_is_noticed_before_anything_serves(
    fresh_db: Database, commands: Commands, keyring: Keyring, tenant_id: TenantId, tmp_path: Path
) -> None:
    """A database that was restored without its key file: the status names the key that is missing."""
    async with fresh_db.tenant(tenant_id) as tx:
        await keyring.data_keys(tx, recipients(1))
    lost = await commands.kms.current_key_id()
    file = tmp_path / "keys" / "master.json"
    kept = file.read_bytes()
    file.unlink()

    code, said, why = await commands.run("status")
    assert (code, f"{lost}: 1 tenant keys, 0 platform keys   (MISSING: not in the key file)" in said) == (
        1,
        True,
    )
    assert f"the database needs master key {lost}" in why

    file.write_bytes(kept)
    file.chmod(0o600)
    assert (await commands.run("status"))[0] == 0


async def test_killed_and_run_again(
    fresh_db: Database,
    fresh_database: TestDatabase,
    commands: Commands,
    keyring: Keyring,
    tenant_id: TenantId,
) -> None:
    """kill -9 in the middle of a chunk; the next run finishes and every box opens."""
    people = recipients(2500)
    async with fresh_db.tenant(tenant_id) as tx:
        keys = await keyring.data_keys(tx, people)
    boxes = {subject: key.seal(subject.encode(), "p") for subject, key in keys.items()}

    # A lock on one data key stops the command at the chunk that has it.
    async with fresh_database.runtime() as holder:
        transaction = holder.transaction()
        await transaction.start()
        await holder.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
        await holder.execute("SELECT FROM kernel.data_keys WHERE subject_id = $1 FOR UPDATE", people[1500])
        process = await commands.start("rotate-tenant", tenant_id)
        async with asyncio.timeout(30):
            while not await _somebody_waits(fresh_database):
                await asyncio.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        await transaction.rollback()
    assert (await key_status(fresh_db, commands.kms)).unfinished == {tenant_id: (1, 2)}

    code, said, _ = await commands.run("rotate-tenant", tenant_id)

    assert (code, "finished an earlier rotation: version 2" in said) == (0, True)
    assert (await key_status(fresh_db, commands.kms)).unfinished == {}
    async with fresh_db.tenant(tenant_id) as tx:
        keys = await Keyring(commands.kms, clock=SystemClock()).data_keys(tx, people, create=False)
    assert all(keys[subject].unseal(box, "p") == subject.encode() for subject, box in boxes.items())


async def test_mistakes_get_one_line(fresh_db: Database, commands: Commands, tenant_id: TenantId) -> None:
    """A wrong id, an unknown tenant, a lost key file: one clear line, exit 1, nothing changed."""
    code, _, said = await commands.run("rotate-tenant", "tnt_wrong")
    assert (code, said.count("\n"), "TENANT must be an id" in said) == (1, 1, True)
    code, _, said = await commands.run("rotate-tenant", tenant_id)
    assert (code, said.count("\n"), "has no keys here" in said) == (1, 1, True)

    async with fresh_db.tenant(tenant_id) as tx:
        await Keyring(commands.kms, clock=SystemClock()).provision(tx)
    lost = await commands.kms.current_key_id()
    commands.kms._file.rename(commands.kms._file.with_name("elsewhere.json"))
    code, _, said = await commands.run("rotate-master")
    assert (code, said.count("\n"), f"needs master key {lost}" in said) == (1, 1, True)


async def _somebody_waits(database: TestDatabase) -> bool:
    async with database.runtime() as connection:
        return bool(
            await connection.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
        )
