"""The server of a predecessor that was killed: on its way out, or to be shown out."""

import os
import signal
import time
from pathlib import Path
from typing import Final

from tidings.operations.embedded.child import children, send

#: What it is told, and how many seconds it has each time. At first nothing: the kernel has told it already.
_STEPS: Final = ((None, 4.0), (signal.SIGINT, 4.0), (signal.SIGQUIT, 4.0), (signal.SIGKILL, 3.0))


def end_leftover(cluster: Path) -> int | None:
    """Wait until no earlier server of this cluster runs, ending it where it must be; one that can't be ended."""
    for message, seconds in _STEPS:
        pid = leftover(cluster)
        if pid is None:
            return None
        if message is not None:
            family = [pid, *children(pid)]
            for member in family if message is signal.SIGKILL else family[:1]:
                send(member, message)
            for member in family:
                send(member, signal.SIGCONT)  # One that was stopped would not hear us.
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if leftover(cluster) is None:
                return None
            time.sleep(0.02)
    return leftover(cluster)


def leftover(cluster: Path) -> int | None:
    """The server that the cluster's pid file names, if it runs and is really this cluster's."""
    try:
        pid = abs(int((cluster / "postmaster.pid").read_text().splitlines()[0]))
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError, IndexError):
        return None
    return pid if os.fsencode(cluster) in command else None
