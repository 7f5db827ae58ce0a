"""README's "Running it", pasted on an empty Postgres: roles, database, schema, first key, first tenant, first mail."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.support.free_port import free_port
from tests.support.outside_postgres import OutsidePostgres, outside_postgres
from tests.support.running import PATIENCE, TIDINGS, clean_environment, wait_until

README = Path(__file__).parents[3] / "README.md"


def running_it() -> str:
    """The commands as README has them."""
    section = README.read_text().partition("\n## Running it\n")[2].partition("\n## ")[0]
    return "\n".join(line.removeprefix("    ") for line in section.splitlines() if line.startswith("    "))


def with_places_of_ours(script: str, places: dict[str, str]) -> str:
    """What a reader would change: the server, the ports, the mail server."""
    for theirs, ours in places.items():
        assert theirs in script, f"README does not say {theirs} any more"
        script = script.replace(theirs, ours)
    return script


@contextlib.contextmanager
def sandbox(folder: Path) -> Iterator[tuple[str, int]]:
    """A mail server that shows what it took: the address of its page, and its port for mail."""
    http, smtp = free_port(), free_port()
    with (folder / "sandbox.log").open("wb") as said:
        process = subprocess.Popen(
            [
                *TIDINGS,
                "sandbox",
                "--http-port",
                str(http),
                "--smtp-port",
                str(smtp),
                "--smpp-port",
                "0",
                "--apns-port",
                "0",
            ],
            stdout=said,
            stderr=subprocess.STDOUT,
            env=clean_environment(),
        )
    try:
        url = f"http://127.0.0.1:{http}"
        wait_until(lambda: _answers(url), "the sandbox")
        yield url, smtp
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def _answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/messages").status_code == 200
    except httpx2.HTTPError:
        return False


def _programs(folder: Path, postgres: OutsidePostgres) -> Path:
    """`tidings` and `psql`, as a machine has them on its path."""
    folder.mkdir()
    for name, command in {
        "tidings": f"{sys.executable} -m tidings",
        "psql": str(postgres.programs / "bin" / "psql"),
    }.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def _paste(script: str, folder: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """In a shell of its own, whose jobs end with it."""
    # A shell waits for its jobs; whoever pastes by hand stops them by hand.
    whole = f"set -e\ntrap 'kill $(jobs -p); wait' EXIT\n{script}\n"
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        shell = subprocess.Popen(
            ["bash", "-c", whole],
            cwd=folder,
            env=clean_environment(**extra),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            code = shell.wait(4 * PATIENCE)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    return subprocess.CompletedProcess([], code, (folder / "out").read_text(), (folder / "err").read_text())


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("bash")), reason="needs curl and bash")
def test_from_an_empty_postgres_to_the_first_mail(tmp_path: Path) -> None:
    """Nothing is missing at any step, no demo tenant is made, and the worker's metrics count the mail."""
    api, metrics = free_port(), free_port()
    with outside_postgres() as postgres, sandbox(tmp_path) as (page, smtp):
        account = {"host": "127.0.0.1", "port": smtp, "security": "none"}
        script = with_places_of_ours(
            running_it(),
            {
                "postgresql://postgres:secret@127.0.0.1:5432/postgres": postgres.admin_url,
                "127.0.0.1:5432/tidings": f"127.0.0.1:{postgres.port}/tidings",
                "8080": str(api),
                "9464": str(metrics),
                '{"host": "smtp.example", "username": "hotel", "password": "secret"}': json.dumps(account),
            },
        )
        path = _programs(tmp_path / "bin", postgres)
        done = _paste(script, tmp_path, PATH=f"{path}:/usr/bin:/bin")
        mails = httpx2.get(f"{page}/messages", params={"channel": "email"}).json()["messages"]

    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert " partitions made\n" in done.stdout
    assert '"status":"ready"' in done.stdout
    assert "it works\n" in done.stdout
    assert "Delivered by email" in done.stdout
    assert [(mail["to"], "481516" in mail["text"]) for mail in mails] == [("guest@example.com", True)]
    assert re.search(r'^tidings_vendor_calls_total\{.*vendor="smtp".*\} 1\.0$', done.stdout, re.MULTILINE)
    assert "missing" not in done.stderr
    assert "demo" not in done.stdout.lower()
