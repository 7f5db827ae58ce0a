"""The commands over the whole: schema, partitions, keys, flags, settings, dead letters, break-glass."""

import asyncio
import json
import subprocess
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from tests.e2e.commands.conftest import Operator
from tests.support.running import PATIENCE, TIDINGS, clean_environment, run_tidings
from tidings.contracts.tenants import TenantFrozen
from tidings.kernel.clock import SystemClock
from tidings.kernel.events import envelope_of, new_event
from tidings.kernel.ids import DEAD_LETTER

pytestmark = pytest.mark.xdist_group("commands")


def test_the_schema(operator: Operator) -> None:
    """Everything is applied and in order; the roles can be printed for an administrator."""
    standing = operator.gets("migrate", "status")
    assert {line["state"] for line in standing} == {"applied"}
    assert "schema_namespaces" in operator.reads("migrate", "status")
    assert operator.gets("migrate", "check") == []
    first, second = operator.reads("migrate", "check").splitlines()
    assert first == "all is well"
    assert second.startswith("the schema is at ")
    assert operator.reads("migrate", "up").splitlines()[-1] == "nothing to do"
    assert "CREATE ROLE" in operator.reads("migrate", "roles")


def test_the_partitions(operator: Operator) -> None:
    assert operator.reads("partitions", "--check") == "nothing is missing\n"
    assert operator.gets("partitions") == {"made": [], "dropped": [], "missing": []}


def test_the_keys(operator: Operator) -> None:
    """Rotated while the API serves."""
    before = operator.gets("keys", "status")["master_key_id"]
    operator.reads("keys", "rotate-master")
    status = operator.gets("keys", "status")
    assert status["master_key_id"] != before
    assert set(status["by_master"]) == {status["master_key_id"]}
    assert status["unfinished"] == {}
    assert before not in operator.reads("keys", "status")


def test_flags_and_settings_and_dead_letters_are_shown(operator: Operator) -> None:
    assert set(operator.gets("flags", "list")) == {"flags", "switches"}
    operator.reads("flags", "list")
    assert operator.gets("dead-letters", "list") == []
    assert operator.reads("dead-letters", "list") == "there are no dead letters\n"
    shown = run_tidings("settings", TIDINGS_DATABASE_URL="postgresql://u:topsecret@h/d", COLUMNS="200")
    assert shown.returncode == 0
    assert "TIDINGS_DATA_DIR" in shown.stdout
    assert "topsecret" not in shown.stdout + shown.stderr
    assert "TIDINGS_DATA_DIR" not in clean_environment()


def test_break_glass(operator: Operator) -> None:
    """Across tenants, with a reason, which is in the audit with the one who gave it."""
    words = ("break-glass", "--reason", "looking for a lost tenant", "--sql")
    demo = operator.running.demo["tenant_id"]
    statement = f"SELECT slug FROM notification.tenants_local WHERE tenant_id = '{demo}'"

    rows = [json.loads(line) for line in operator.reads(*words, statement, "--json").splitlines()]
    assert rows == [{"slug": "demo"}]
    assert "demo" in operator.reads(*words, statement)

    happened = operator.reads("audit", "tail")
    assert "looking for a lost tenant" in happened


def test_bad_input_is_one_line(operator: Operator) -> None:
    """With what to do instead, and a code that scripts can see."""
    tenant, letter = "tnt_01M7FCWEYJ9BT7FZN9XC66BV19", "dlt_01M7FCWEYJ9BT7FZN9XC66BV19"
    glass = ("break-glass", "--reason", "looking for a lost tenant", "--sql")
    expected = {
        ("migrate", "down", "31"): "--emergency",
        ("migrate", "down", "31", "--emergency"): "--reason",
        ("migrate", "down", "1", "--emergency", "--reason", "x", "--yes"): "0001",
        ("migrate", "check", "--folder", "/nonexistent"): "/nonexistent",
        ("flags", "set", "no.such", "on", "--reason", "because I can"): "not a declared flag",
        ("flags", "set", "no.such", "101%", "--reason", "because I can"): "on, off or a percentage",
        (
            "flags",
            "unset",
            "no.such",
            "--reason",
            "because",
            "--tenant",
            "nobody",
        ): "no tenant has the id or slug",
        ("audit", "verify", "--log", "diary"): "--log must be one of",
        ("audit", "tail", "--tenant", "nobody"): "--tenant must be an id",
        ("keys", "rotate-tenant", "nobody"): "TENANT must be an id",
        ("keys", "rotate-tenant", tenant): "has no keys here",
        ("dead-letters", "show", "nonsense"): "LETTER must be an id of the form dlt_",
        ("dead-letters", "show", letter): "no such dead letter",
        ("dead-letters", "discard", letter): "no such dead letter",
        ("dead-letters", "replay"): "--group GROUP --all",
        ("break-glass", "--reason", "short", "--sql", "SELECT 1"): "at least 10 characters",
        (*glass, "SELEC 1"): "syntax error",
        (*glass, "DELETE FROM notification.audit"): "only reading",
        (*glass, "SELECT 1; SELECT 2"): "",
        ("tenant", "list", "--data-dir", "/nonexistent/folder"): "there is no Tidings in /nonexistent/folder",
        ("tenant", "list", "--database-url", "postgresql://u:topsecret@127.0.0.1:1/x"): "can't be reached",
        (
            "tenant",
            "list",
            "--database-url",
            "mysql://u:topsecret@127.0.0.1/x",
        ): "TIDINGS_DATABASE_URL must be",
        ("keys", "status", "--database-url", "nonsense"): "TIDINGS_DATABASE_URL must be",
    }

    for words, part in expected.items():
        said = operator.is_refused(*words)
        assert part in said, (words, said)
        assert "topsecret" not in said


def test_an_unknown_word_is_refused_with_a_hint(operator: Operator) -> None:
    """By the command line's own reader: what is wrong, and where help is."""
    for words in (
        ("nonsense",),
        ("tenant", "nonsense"),
        ("migrate", "up", "--phase", "never"),
        ("tenant", "show"),
    ):
        done = operator.types(*words)
        assert done.returncode == 2, words
        assert "--help" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_process_of_its_own_says_and_does_the_same(operator: Operator) -> None:
    """The console script from a shell: output, one clear line, exit codes."""
    folder = {"TIDINGS_DATA_DIR": str(operator.running.data_dir)}

    shown = run_tidings("tenant", "show", "demo", **folder)
    refused = run_tidings("tenant", "show", "nobody", **folder)

    assert (shown.returncode, shown.stderr) == (0, "")
    assert operator.running.demo["tenant_id"] in shown.stdout
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "tidings: no tenant has the id or slug 'nobody'; `tidings tenant list` shows them\n"
    )


def test_a_command_over_a_url_leaves_nothing_behind(operator: Operator, tmp_path: Path) -> None:
    """No folder is made where it was typed; a later `tidings up` would take it for somebody else's."""
    done = subprocess.run(
        [*TIDINGS, "tenant", "list", "--database-url", operator.running.demo["database_url"]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=clean_environment(),
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []


def test_what_an_operator_orders_for_a_dead_letter_is_audited(operator: Operator) -> None:
    """Who, what and which event; before it is done."""
    ids = asyncio.run(_bury(operator, 3))

    assert operator.reads("dead-letters", "discard", ids[0]) == "discarded: 1\n"
    assert operator.reads("dead-letters", "replay", "--group", "notify.tenants", "--all") == "replayed: 2\n"

    tail = [json.loads(line) for line in operator.reads("audit", "tail", "--json").splitlines()]
    rows = [row for row in tail if row["entity_type"] == "dead_letter"]
    assert {(row["entity_id"], row["action"]) for row in rows} == {
        (ids[0], "discard.ordered"),
        (ids[1], "replay.ordered"),
        (ids[2], "replay.ordered"),
    }
    assert all(row["actor"].startswith("cli:") for row in rows)
    assert json.loads(rows[0]["before"])["group"] == "notify.tenants"
    assert "as it was written" in operator.reads("audit", "verify")


async def _bury(operator: Operator, count: int) -> list[str]:
    """Dead letters of tenant events that tell nothing new, so that a replay changes nothing."""
    clock = SystemClock()
    connection = await asyncpg.connect(operator.running.demo["database_url"])
    ids: list[str] = []
    try:
        async with connection.transaction():
            await connection.execute("SET LOCAL ROLE tidings_worker")
            for n in range(count):
                ids.append(DEAD_LETTER.new(clock.now() + timedelta(milliseconds=n)))
                tenant_id = operator.running.demo["tenant_id"]
                event = new_event(
                    "tenant.frozen.v1",
                    TenantFrozen(tenant_id=tenant_id, version=0),
                    tenant_id=tenant_id,
                    ordering_key=tenant_id,
                    source="/elsewhere",
                    clock=clock,
                )
                await connection.execute(
                    "INSERT INTO kernel.dead_letters (id, group_name, position, event_id, tenant_id, subject, lane, "
                    "envelope, payload, attempts, error, died_at, expires_at) VALUES ($1, 'notify.tenants', $2, $3, "
                    "$4, $5, $6, $7, $8, 1, 'Test', now(), now() + interval '1 day')",
                    ids[-1], n + 1, event.id, tenant_id, event.subject, event.lane, envelope_of(event), event.data,
                )  # fmt: skip
    finally:
        await connection.close()
    return ids
