"""The server's process: started so that it dies with us, ended however stubborn it is."""

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

_PR_SET_PDEATHSIG = 1
#: How it is asked to end, and how many seconds it has each time: without clients and cleanly; at once, to
#: recover at the next start; and without being asked.
_FAREWELLS: Final = ((signal.SIGINT, 10.0), (signal.SIGQUIT, 3.0), (signal.SIGKILL, 3.0))

ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C"}


class PostgresChild:
    """One running server."""

    def __init__(
        self, command: Sequence[str], *, cluster: Path, log: Path, credentials: dict[str, Any]
    ) -> None:
        """Start it, from the main thread: the kernel takes the end of the starting thread for our end."""
        self._pid_file = cluster / "postmaster.pid"
        # The server's errors may quote rows; the folder may be passed through by others.
        log.touch(mode=0o600)
        log.chmod(0o600)
        with log.open("ab") as said:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd=cluster,
                start_new_session=True,  # Ctrl-C is for us; we stop it when we have drained
                preexec_fn=_die_with(os.getpid()),  # noqa: PLW1509  # nothing that another thread could hold
                env=ENVIRONMENT,
                **credentials,
            )

    @property
    def pid(self) -> int:
        """Its process, and after its end what that was."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    @property
    def is_ready(self) -> bool:
        """Whether it takes connections."""
        try:
            lines = self._pid_file.read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"

    def stop(self) -> None:
        """End it: as cleanly as it can within ten seconds, or else at once."""
        for farewell, seconds in _FAREWELLS:
            family = [self.pid, *children(self.pid)]
            # Its backends are sessions of their own; ended hard, it could not tell them.
            for pid in family if farewell is signal.SIGKILL else family[:1]:
                send(pid, farewell)
            for pid in family:
                send(pid, signal.SIGCONT)  # One that was stopped would not hear us.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
                return


def send(pid: int, what: signal.Signals) -> None:
    """Signal a process that may have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, what)


def children(parent: int) -> list[int]:
    """The processes that it has started, where the system tells."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name in parentheses may hold spaces; what follows it does not.
            if int(entry.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(entry.parent.name))
    return found


def _die_with(parent: int) -> Callable[[], None]:
    libc = ctypes.CDLL(None, use_errno=True)

    def arm() -> None:
        if hasattr(libc, "prctl"):
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
        if os.getppid() != parent:  # it died before we could ask to be told
            os.kill(os.getpid(), signal.SIGTERM)

    return arm
