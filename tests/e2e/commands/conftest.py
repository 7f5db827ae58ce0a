"""One running Tidings for all these commands, and a way to type them."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.running import PATIENCE, RunningTidings, clean_environment
from tests.support.used_data_dir import running_tidings

#: The console script for every line of words on stdin; exit code, stdout and stderr as a line on stdout.
_TYPIST = """
import contextlib, io, json, os, sys
from tidings.cli.main import main
answers = os.fdopen(os.dup(1), "w")
for line in sys.stdin:
    sys.argv = ["tidings", *json.loads(line)]
    code = 0
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]), file=answers, flush=True)
"""


class Operator:
    """Somebody at the keyboard of a running Tidings.

    The commands run one after the other in a process of their own: starting one for each would take minutes.
    """

    def __init__(self, running: RunningTidings) -> None:
        self.running = running
        self._typist = subprocess.Popen(
            [sys.executable, "-c", _TYPIST],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clean_environment(TIDINGS_DATA_DIR=str(running.data_dir), COLUMNS="200"),
        )

    def leave(self) -> None:
        """End the process that types."""
        self._typist.communicate(timeout=PATIENCE)

    def types(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command, against the data dir."""
        assert self._typist.stdin is not None
        assert self._typist.stdout is not None
        self._typist.stdin.write(json.dumps(words) + "\n")
        self._typist.stdin.flush()
        answer = self._typist.stdout.readline()
        assert answer, f"`tidings {' '.join(words)}` ended without an exit code"
        return subprocess.CompletedProcess(words, *json.loads(answer))

    def reads(self, *words: str) -> str:
        """What it printed, having gone well."""
        done = self.types(*words)
        assert done.returncode == 0, done.stderr
        assert done.stderr == "" or words[0] == "break-glass", done.stderr
        return done.stdout

    def gets(self, *words: str) -> Any:
        """The same as JSON."""
        return json.loads(self.reads(*words, "--json"))

    def is_refused(self, *words: str) -> str:
        """The one line with which it declined."""
        done = self.types(*words)
        assert done.returncode == 1, (words, done)
        assert "Traceback" not in done.stderr, done.stderr
        assert len(done.stderr.strip().splitlines()) == 1, (words, done.stderr)
        assert done.stderr.startswith("tidings: "), (words, done.stderr)
        return done.stderr.strip().removeprefix("tidings: ")


@contextlib.contextmanager
def operating() -> Iterator[Operator]:
    """An operator of a Tidings that nobody else uses."""
    with running_tidings() as running:
        operator = Operator(running)
        yield operator
        operator.leave()


@pytest.fixture(scope="package")
def operator() -> Iterator[Operator]:
    """One for all files: a test that changes what others rely on makes a tenant of its own for it."""
    with operating() as somebody:
        yield somebody
