"""`tidings up`: starts from nothing, answers, stops everything, starts again."""

import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.support.running import TIDINGS, RunningTidings, clean_environment, run_tidings, wait_until
from tidings.operations.embedded.placement import User, reachable


def test_it_starts_from_nothing_answers_and_stops(data_dir: Path) -> None:
    """Address, key and a first curl that works; Ctrl-C ends with 0 and leaves no process."""
    with RunningTidings(data_dir, program=TIDINGS) as tidings:
        demo = tidings.demo
        printed = tidings.output
        curl = re.search(r"^  (curl .*)$", printed, re.MULTILINE)

        assert set(demo) >= {"base_url", "tenant_id", "api_key", "platform_key", "database_url", "pid"}
        assert stat.S_IMODE((data_dir / "demo.json").stat().st_mode) == 0o600
        assert stat.S_IMODE((data_dir / "postgres.log").stat().st_mode) == 0o600
        assert "tidings_runtime" in demo["database_url"]
        assert demo["base_url"] in printed
        assert demo["api_key"] in printed
        assert curl is not None
        with tidings.client() as client:
            answer = client.get("/api/v1/tenant")
        assert answer.status_code == 200
        assert demo["tenant_id"] in answer.text
        if shutil.which("curl"):
            said = subprocess.run(
                [*shlex.split(curl[1]), "--silent", "--fail"], capture_output=True, text=True, check=True
            ).stdout
            assert demo["tenant_id"] in said
        link, own = demo["console_url"], {"sec-fetch-site": "same-origin"}
        with httpx2.Client() as browser:
            assert browser.get(link).status_code == 200, "to look uses nothing up"
            assert browser.post(link, headers=own).status_code == 303
            assert browser.get(f"{demo['base_url']}/console").status_code == 200
            assert browser.post(link, headers=own).status_code == 410

        assert tidings.stop() == 0
        assert "Stopping:" in tidings.output
        assert f"Stopped. Everything is kept in {data_dir}" in tidings.output
        tidings.await_nobody_left()


def test_a_second_start_keeps_everything(used_dir: Path) -> None:
    """Same tenant, same keys; nothing is made twice. With a public address, commands here still find the local one."""
    with RunningTidings(used_dir, TIDINGS_PUBLIC_URL="https://news.hotel.example") as first:
        before = first.demo
        assert before["public_url"] == "https://news.hotel.example"
        assert before["base_url"].startswith("http://127.0.0.1:")
        assert before["base_url"] in first.output
        assert "Public     https://news.hotel.example" in first.output
        assert run_tidings("tail", "--no-follow", "--data-dir", str(used_dir)).returncode == 0
        first.stop(signal.SIGTERM)
    with RunningTidings(used_dir) as second:
        after = second.demo
        with second.client("platform_key") as client:
            tenants = client.get("/internal/v1/tenants").json()["items"]

    assert {name: after[name] for name in ("tenant_id", "api_key", "platform_key")} == {
        name: before[name] for name in ("tenant_id", "api_key", "platform_key")
    }
    assert len(tenants) == 1


def test_a_lost_demo_file_is_written_anew(used_dir: Path) -> None:
    """The tenant stays; the keys are new, because only their hashes were kept."""
    with RunningTidings(used_dir) as first:
        before = first.demo
    (used_dir / "demo.json").unlink()
    with RunningTidings(used_dir) as second, second.client() as client:
        assert client.get("/api/v1/tenant").status_code == 200
        assert second.demo["tenant_id"] == before["tenant_id"]
        assert second.demo["api_key"] != before["api_key"]


def test_kill_9_leaves_nothing_behind_and_loses_nothing(used_dir: Path) -> None:
    """The database ends by itself; the next start finds all that was answered."""
    with RunningTidings(used_dir) as first:
        with first.client() as client:
            made = client.post(
                "/api/v1/api-keys", json={"name": "made before the kill", "role": "tenant.viewer"}
            )
            assert made.status_code == 201, made.text
        first.kill()
        first.await_nobody_left()
    with RunningTidings(used_dir) as second, second.client() as client:
        names = [key["name"] for key in client.get("/api/v1/api-keys").json()["items"]]

        assert "made before the kill" in names
        assert second.stop() == 0
        second.await_nobody_left()


def test_kill_9_of_everything_at_once_is_recovered_from(used_dir: Path) -> None:
    """As after a power cut: Postgres too is gone without a word, its pid file still there."""
    with RunningTidings(used_dir) as first:
        with first.client() as client:
            client.post("/api/v1/api-keys", json={"name": "before the cut", "role": "tenant.viewer"})
        for process in [
            *psutil.Process(first.process.pid).children(recursive=True),
            psutil.Process(first.process.pid),
        ]:
            process.kill()
        first.process.wait()
        first.await_nobody_left()
    with RunningTidings(used_dir) as second, second.client() as client:
        assert "before the cut" in client.get("/api/v1/api-keys").text


def test_a_killed_postgres_is_seen_by_readyz(used_dir: Path) -> None:
    """It says which part is not ready; the process itself goes on answering."""
    with RunningTidings(used_dir) as tidings, tidings.client() as client:
        (used_dir / "postgres" / "PG_VERSION").unlink()  # Or it would be started again before we look.
        for child in psutil.Process(tidings.process.pid).children():
            child.kill()

        # A session of a server that was killed may answer once more.
        answer = wait_until(
            lambda: found if (found := client.get("/readyz")).status_code == 503 else None, "a 503"
        )

        assert answer.json()["parts"]["database"]["ok"] is False
        assert client.get("/healthz").status_code == 200


def test_a_data_dir_out_of_reach_still_works() -> None:
    """Under a folder of mode 0700, as a home is; nobody's permissions are opened."""
    with tempfile.TemporaryDirectory(prefix="tidings-home-", ignore_cleanup_errors=True) as home:
        folder = Path(home)
        folder.chmod(0o700)
        with RunningTidings(folder / "data") as tidings, tidings.client() as client:
            assert client.get("/api/v1/tenant").status_code == 200
            cluster = (folder / "data" / "postgres").resolve()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        if not cluster.is_relative_to(folder.resolve()):
            shutil.rmtree(cluster)


@pytest.mark.skipif(os.geteuid() != 0, reason="is an ordinary user already")
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv to become an ordinary user")
@pytest.mark.skipif(
    not reachable(Path(sys.prefix) / "bin", User(65534, 65534)),
    reason="the virtual environment is in a home that an ordinary user can't look into",
)
def test_it_runs_as_an_ordinary_user(data_dir: Path) -> None:
    """The database belongs to that user, in the data dir itself.

    The interpreter may be under root's home, so reading is allowed everywhere; writing is not.
    """
    os.chown(data_dir.parent, 65534, 65534)
    become = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
              "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search", "--bounding-set=-all,+dac_read_search")  # fmt: skip
    with (
        RunningTidings(data_dir, program=(*become, *TIDINGS), HOME=str(data_dir.parent)) as tidings,
        tidings.client() as client,
    ):
        assert client.get("/api/v1/tenant").status_code == 200
        assert psutil.Process(tidings.process.pid).uids().real == 65534
        assert (data_dir / "postgres").stat().st_uid == 65534
        assert not (data_dir / "postgres").is_symlink()
        assert tidings.stop() == 0
        tidings.await_nobody_left()


def test_help_is_quick_to_import() -> None:
    """Nothing heavy is loaded for --help; the list of what must not be."""
    script = (
        "import sys; from tidings.cli import main; "
        "print(sorted({'asyncpg', 'uvicorn', 'cryptography', 'obstore', 'phonenumbers', 'joserfc'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=clean_environment(), check=True
    )
    assert done.stdout.strip() == "[]"
