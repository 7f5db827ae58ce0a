"""The database dies, hangs or is restarted while Tidings runs."""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.e2e.surviving.books import assert_nothing_is_lost_or_doubled
from tests.e2e.surviving.writing import Writer
from tests.support.running import RunningTidings, wait_until

pytestmark = pytest.mark.xdist_group("surviving")


def _postmaster(tidings: RunningTidings) -> psutil.Process:
    """The server that runs now; waited for, where the last one has just died."""

    def found() -> psutil.Process | None:
        try:
            named = (tidings.data_dir / "postgres" / "postmaster.pid").read_text().split()[0]
            process = psutil.Process(int(named))
        except (OSError, IndexError, psutil.NoSuchProcess):
            return None
        return None if process.status() == psutil.STATUS_ZOMBIE else process

    process: psutil.Process = wait_until(found, "a server")
    return process


def _kill(process: psutil.Process) -> None:
    process.kill()
    wait_until(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE, "its end")


def _ready(tidings: RunningTidings, status: int) -> bool:
    return httpx2.get(f"{tidings.demo['base_url']}/readyz", timeout=30).status_code == status


@contextmanager
def _hanging(tidings: RunningTidings) -> Iterator[None]:
    """Every process of the server is stopped, as when its disk does not answer."""
    postmaster = _postmaster(tidings)
    family = [postmaster, *postmaster.children()]
    for process in family:
        process.suspend()
    try:
        yield
    finally:
        for process in family:
            if process.is_running():
                process.resume()


def test_a_killed_server_is_started_again(data_dir: Path) -> None:
    """`/readyz` goes to 503 and back to 200, again and again; what was answered is there, and jobs go on."""
    with RunningTidings(data_dir) as tidings:
        with Writer(tidings) as writer:
            for _ in range(3):
                writer.await_more(5)
                _kill(_postmaster(tidings))
                wait_until(lambda: _ready(tidings, 200), "it to be ready again")
            writer.await_more(5)

        assert {status for status, _ in writer.refusals} <= {503}
        assert tidings.output.count('"postgres_started_again"') == 3
        said = tidings.output.splitlines()
        over = [line for line in said if '"database_back"' in line]
        about_it = [
            line for line in said if re.search(r'"(DatabaseUnavailableError|database_unavailable)"', line)
        ]
        assert len(over) >= 3, "it is said when it is back"
        assert len(about_it) <= len(over) + 5, "everybody notices, and one line says so"
        assert_nothing_is_lost_or_doubled(tidings, keys=writer.keys, tenants=writer.tenants)
        family = [_postmaster(tidings), *_postmaster(tidings).children()]
        # The server that was started again, too, is told to end when we die.
        tidings.kill()
        wait_until(lambda: not any(process.is_running() for process in family), "all of them to end")


def test_a_killed_backend_costs_a_moment(data_dir: Path) -> None:
    """The server ends all sessions and recovers by itself; nobody restarts it."""
    with RunningTidings(data_dir) as tidings:
        postmaster = _postmaster(tidings)
        with Writer(tidings) as writer:
            writer.await_more(5)
            backends = [
                child for child in postmaster.children() if "tidings_runtime" in " ".join(child.cmdline())
            ]
            backends[0].send_signal(signal.SIGKILL)
            writer.await_more(10)

        assert _postmaster(tidings).pid == postmaster.pid
        assert_nothing_is_lost_or_doubled(tidings, keys=writer.keys, tenants=writer.tenants)


def test_a_hang_is_told_and_waited_out(data_dir: Path) -> None:
    """`/readyz` says what is not ready and `/healthz` that we live; then everything goes on."""
    with RunningTidings(data_dir) as tidings:
        with Writer(tidings) as writer:
            writer.await_more(5)
            with _hanging(tidings), tidings.client() as client:
                assert client.get("/readyz").json()["parts"]["database"] == {
                    "ok": False,
                    "detail": "does not answer",
                }
                assert client.get("/healthz").status_code == 200
            writer.await_more(5)
        wait_until(lambda: _ready(tidings, 200), "it to be ready again")

        assert_nothing_is_lost_or_doubled(tidings, keys=writer.keys, tenants=writer.tenants)


@pytest.mark.parametrize("told_twice", [False, True])
def test_it_stops_although_the_database_hangs(data_dir: Path, told_twice: bool) -> None:
    """Nobody has to kill it; the server ends with it, and the next start finds everything."""
    with RunningTidings(data_dir) as tidings:
        with tidings.client() as client:
            made = client.post(
                "/api/v1/api-keys", json={"name": f"hung {told_twice}", "role": "tenant.viewer"}
            )
            assert made.status_code == 201
        with _hanging(tidings):
            tidings.process.send_signal(signal.SIGINT)
            if told_twice:
                wait_until(lambda: not _listens(tidings), "the first signal to be heard")
                tidings.process.send_signal(signal.SIGINT)
            assert tidings.process.wait(60) == 0
        tidings.await_nobody_left()
    with RunningTidings(data_dir) as again, again.client() as client:
        assert client.get(f"/api/v1/api-keys/{made.json()['key']['id']}").status_code == 200


def _listens(tidings: RunningTidings) -> bool:
    try:
        httpx2.get(f"{tidings.demo['base_url']}/healthz", timeout=5)
    except httpx2.HTTPError:
        return False
    return True
