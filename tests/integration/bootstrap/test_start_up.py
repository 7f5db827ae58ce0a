"""What a command imports, and so how fast it starts: counted in modules, since time depends on the machine."""

import json
import os
import subprocess
import sys

import pytest
import typer

from tests.support.postgres import TestDatabase
from tidings.cli.main import COMMANDS, app

#: Types a command and prints what was imported for it.
_TYPED = """
import json, sys
from tidings.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
_HEAVY = {
    "aiohttp",
    "aiosmtplib",
    "babel",
    "dns",
    "httpx2",
    "jwt",
    "litestar",
    "opentelemetry",
    "prometheus_client",
    "py_mini_racer",
    "redis",
    "starlette",
    "tidings_client",
    "uvicorn",
    "yaml",
}


def _imported(*words: str, **environment: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", _TYPED, *words],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    modules: list[str] = json.loads(done.stderr.splitlines()[-1])
    return {".".join(name.split(".")[:most]) for name in modules for most in (1, 2, 3)}


def test_help_imports_no_command_and_nothing_of_the_product() -> None:
    imported = _imported("--help")

    assert not imported & (_HEAVY | {"asyncio", "asyncpg", "cryptography", "msgspec", "rich", "structlog"})
    assert {name for name in imported if name.startswith("tidings.")} == {
        "tidings.cli",
        "tidings.cli.failures",
        "tidings.cli.lazy",
        "tidings.cli.main",
    }


def test_a_command_on_the_database_builds_the_kernel_stage_alone(
    worker_database: TestDatabase, tmp_path: os.PathLike[str]
) -> None:
    imported = _imported(
        "tenant",
        "list",
        TIDINGS_DATABASE_URL=worker_database.runtime_url,
        TIDINGS_DATA_DIR=os.fspath(tmp_path),
    )

    assert not imported & (_HEAVY | {"tidings.router", "tidings.sandbox"})
    assert {name for name in imported if name.startswith("tidings.bootstrap.")} == {
        "tidings.bootstrap.kernel",
        "tidings.bootstrap.services",
        "tidings.bootstrap.system",
    }
    assert {name for name in imported if name.startswith("tidings.notify.")} == {"tidings.notify.tenants"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_of_a_command_is_its_own(name: str) -> None:
    """`--help` takes it from the table, without the command."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]

    assert COMMANDS[name] == commands[name].get_short_help_str(1000)
