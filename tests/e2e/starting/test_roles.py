"""`tidings serve` and `tidings work`, each a process of its own that can be watched."""

import re
import subprocess
from pathlib import Path
from typing import Any

import httpx2

from tests.support.postgres import TestDatabase
from tests.support.running import PATIENCE, TIDINGS, clean_environment, wait_until


class RunningRole:
    """One role over a database that is there; a context manager that leaves nothing behind."""

    def __init__(self, *arguments: str, output: Path, **environment: str) -> None:
        self._path = output
        with output.open("wb") as file:
            self.process = subprocess.Popen(
                [*TIDINGS, *arguments],
                stdout=file,
                stderr=subprocess.STDOUT,
                env=clean_environment(**environment),
            )

    def __enter__(self) -> "RunningRole":
        def ready() -> bool:
            assert self.process.poll() is None, self.output
            return " ready" in self.output

        wait_until(ready, "the role to be ready")
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)

    @property
    def output(self) -> str:
        return self._path.read_text()

    @property
    def watched(self) -> str:
        """Where it is watched, by its own words."""
        found = re.search(r"metrics on (http://\S+)/metrics", self.output)
        assert found, self.output
        return found[1]


def readiness(url: str) -> dict[str, Any] | None:
    answer = httpx2.get(f"{url}/readyz", timeout=10)
    return answer.json() if answer.status_code == 200 else None


def test_every_process_can_be_watched(fresh_database: TestDatabase, tmp_path: Path) -> None:
    """A worker says what it counts and how its jobs are; the API says so on its own port and on the other one."""
    over = {
        "TIDINGS_DATABASE_URL": fresh_database.runtime_url,
        "TIDINGS_OWNER_DATABASE_URL": fresh_database.owner_url,
        "TIDINGS_DATA_DIR": str(tmp_path / "data"),
    }
    with (
        RunningRole("work", "--metrics-port", "0", output=tmp_path / "work", **over) as work,
        RunningRole(
            "serve", "--port", "0", "--metrics-port", "0", output=tmp_path / "serve", **over
        ) as serve,
    ):
        worker = wait_until(lambda: readiness(work.watched), "the worker's jobs to run")
        behind = wait_until(
            lambda: [
                line
                for line in httpx2.get(f"{work.watched}/metrics").text.splitlines()
                if line.startswith("tidings_partitions_missing{")
            ],
            "the worker's own metrics",
        )
        alive = httpx2.get(f"{work.watched}/healthz")
        api = re.search(r"api ready on (http://[^\s,]+)", serve.output)
        assert api
        httpx2.get(f"{api[1]}/api/v1/tenant")
        counted = [httpx2.get(f"{url}/metrics").text for url in (serve.watched, api[1])]
        ready = readiness(serve.watched)

    for one in (work, serve):
        # Nobody has published the platform's templates here; each says so in one line, with the remedy.
        (missing,) = [line for line in one.output.splitlines() if line.startswith("tidings: missing: ")]
        assert re.search(r"\d+ of the platform's templates are missing .*: run `tidings bootstrap`$", missing)
    assert alive.json() == {"status": "ok"}
    assert worker["status"] == "ready"
    assert set(worker["parts"]) == {"database", "partitions", "jobs", "journal"}
    assert re.fullmatch(
        r"\d\d run; the oldest last turn is of \w+, \d+ s ago", worker["parts"]["jobs"]["detail"]
    )
    assert all(line.endswith(" 0.0") for line in behind)
    for text in counted:
        assert 'route="/api/v1/tenant",status="401"} 1.0' in text
    assert ready is not None
    assert set(ready["parts"]) == {"database", "partitions", "jobs", "journal"}
    assert (work.process.returncode, serve.process.returncode) == (0, 0)
