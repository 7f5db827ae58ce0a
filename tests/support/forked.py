"""`tidings` processes that are forked from one that has imported Tidings: importing it is most of what a start computes.

This file is the program of that one, too: it reads commands from a socket and forks a process for each, as
`multiprocessing` does with its fork server; each runs what `python -m tidings` runs.
"""

import atexit
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

_MESSAGE = 1 << 20


class ForkedProcess:
    """One of them, with the methods of a `subprocess.Popen` that tests use."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        output: IO[bytes],
        env: Mapping[str, str],
        errors: IO[bytes] | None = None,
    ) -> None:
        """`tidings` with these words, in a session of its own; stdout and stderr go to `output`, or the latter to `errors`."""
        self._server = _server()
        self.args = ["tidings", *words]
        self.pid = self._server.fork(words, output, errors or output, env)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        if self.returncode is None:
            self.returncode = self._server.exit_code(self.pid, 0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Until it has ended; its exit code."""
        if self.returncode is None:
            self.returncode = self._server.exit_code(self.pid, timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """As `kill -9` does it."""
        self.send_signal(signal.SIGKILL)


class _ForkServer:
    """The process that forks; it ends with us."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ended: dict[int, int] = {}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-uP", __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        atexit.register(self._leave)

    def _leave(self) -> None:
        self._socket.close()
        self._process.wait()

    def fork(self, words: Sequence[str], output: IO[bytes], errors: IO[bytes], env: Mapping[str, str]) -> int:
        asked = json.dumps([list(words), dict(env)]).encode()
        socket.send_fds(self._socket, [asked], [output.fileno(), errors.fileno()])
        while (kind := (said := self._hear())[0]) != "forked":
            assert kind == "ended"
        return int(said[1])

    def exit_code(self, pid: int, timeout: float | None) -> int | None:
        """Wait so long for its end; None where it still runs then."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while pid not in self._ended:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._socket], [], [], left)[0]:
                return None
            self._hear()
        return self._ended[pid]

    def _hear(self) -> list[Any]:
        heard = self._socket.recv(_MESSAGE)
        assert heard, f"the process that forks has ended with {self._process.poll()}"
        said: list[Any] = json.loads(heard)
        if said[0] == "ended":
            self._ended[said[1]] = said[2]
        return said


@functools.cache
def _server() -> _ForkServer:
    """One for all tests of a worker."""
    return _ForkServer()


def _import_what_a_start_imports() -> None:
    import gc

    import tidings.bootstrap.application
    import tidings.cli.main
    import tidings.cli.process
    import tidings.cli.serve
    import tidings.cli.up
    import tidings.notify.channels.configure
    import tidings.operations.demo
    import tidings.operations.demo_channels
    import tidings.operations.embedded
    import tidings.operations.migrations.runner
    import tidings.operations.partitions
    import tidings.operations.sandbox_start
    import tidings.operations.sandbox_vendor  # noqa: F401

    gc.collect()
    gc.freeze()


def _fork_until_told(us: socket.socket) -> None:
    """Returns in each process that is forked, and ends this one when nobody can ask any more."""
    woken, waking = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking)
    while True:
        ready, _, _ = select.select([us.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _tell_of_the_dead(us)
        if us.fileno() in ready:
            asked, outputs, _, _ = socket.recv_fds(us, _MESSAGE, 2)
            if not asked:
                os._exit(0)
            pid = os.fork()
            if pid:
                for output in outputs:
                    os.close(output)
                us.send(json.dumps(["forked", pid]).encode())
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, before)
            for mine in (woken, waking):
                os.close(mine)
            us.close()
            words, env = json.loads(asked)
            _become(words, env, outputs)
            return


def _tell_of_the_dead(us: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        us.send(json.dumps(["ended", pid, os.waitstatus_to_exitcode(status)]).encode())


def _become(words: list[str], env: dict[str, str], outputs: list[int]) -> None:
    os.setsid()
    for output, standard in zip(outputs, (1, 2), strict=True):
        os.dup2(output, standard)
        os.close(output)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["tidings", *words]


if __name__ == "__main__":
    _import_what_a_start_imports()
    _fork_until_told(socket.socket(fileno=int(sys.argv[1])))
    from tidings.cli.main import main

    main()
