"""Takes from a child process what it does not need, before it reads anything that a tenant wrote.

All of it is Linux's; elsewhere only the limits that POSIX knows are set. Each part is best effort, because a kernel
or a container may not allow it; what must hold everywhere is that the child has no keys and no database.
"""

import contextlib
import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

_LINUX: Final = sys.platform == "linux"
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_NO_NEW_PRIVS: Final = 38
_CAPABILITIES: Final = 0x20080522
_CLONE_NEWNET: Final = 0x40000000
#: nobody and nogroup, by their numbers: an image without /etc/passwd has them too.
_NOBODY: Final = 65534
_LANDLOCK_CREATE: Final = 444
_LANDLOCK_ADD_RULE: Final = 445
_LANDLOCK_RESTRICT: Final = 446
_READ_FILE: Final = 1 << 2
_READ_DIR: Final = 1 << 3
_PATH_BENEATH: Final = 1
#: CAP_DAC_READ_SEARCH; Landlock still bounds what is read.
_DAC_READ_SEARCH: Final = 1 << 2
_FILES: Final = 64


def leave_alone() -> None:
    """First of all: end with the parent, leave no core, be the first to go where memory is short."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if _LINUX:
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
        _end_with_parent()


def shut_in(readable: Sequence[Path]) -> int | None:
    """Before the first thread: another user, no network, no files but `readable`, no way back.

    What it gives is for `set_limits`: the file that says how much memory we have, which can't be opened any more then.
    """
    if not _LINUX:
        return None
    statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        libc.unshare(_CLONE_NEWNET)
        _become_nobody(readable)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _drop_capabilities(libc, readable)
    _restrict_files(libc, readable)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    # A change of user forgets it.
    _end_with_parent()
    return statm


def set_limits(memory: int, statm: int | None) -> None:
    """After the last thread has begun: no more of them, no files written, so much memory beyond what it has now."""
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, _FILES))
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    if statm is not None:
        # V8 reserves far more address space than it uses, so the space itself is not limited; what can be written is.
        limit = _writable_bytes(statm) + memory
        os.close(statm)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _end_with_parent() -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _writable_bytes(statm: int) -> int:
    pages = os.pread(statm, 200, 0).split()[5]
    return int(pages) * resource.getpagesize()


def _become_nobody(readable: Iterable[Path]) -> None:
    """Unless the program itself could not be read then, as it is where it lies in root's own folder."""
    try:
        os.seteuid(_NOBODY)
        may = all(os.access(path, os.R_OK, effective_ids=True) for path in readable)
        os.seteuid(0)
        if may:
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    except OSError:
        return


def _drop_capabilities(libc: ctypes.CDLL, readable: Iterable[Path]) -> None:
    """Root's rights, where it still has any; but for reading, where the program itself can't be read without."""
    head, known = struct.pack("=Ii", _CAPABILITIES, 0), ctypes.create_string_buffer(24)
    if libc.capget(head, known) != 0:
        return
    permitted = struct.unpack("=6I", known.raw)[1::3]
    # Asleep for a moment: what can be read now can be read without them.
    libc.capset(head, struct.pack("=6I", 0, permitted[0], 0, 0, permitted[1], 0))
    may = all(os.access(path, os.R_OK, effective_ids=True) for path in readable)
    kept = 0 if may else permitted[0] & _DAC_READ_SEARCH
    libc.capset(head, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def _restrict_files(libc: ctypes.CDLL, readable: Iterable[Path]) -> None:
    """Landlock: of all files only `readable`, to be read; no TCP; no signals to others."""
    version = libc.syscall(_LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return
    bits = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    wanted = struct.pack("=QQQ", (1 << bits) - 1, 0b11, 0b11)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = libc.syscall(_LANDLOCK_CREATE, wanted, size, 0)
    if rules < 0:
        return
    for path in readable:
        with contextlib.suppress(OSError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            may = _READ_FILE | _READ_DIR if path.is_dir() else _READ_FILE
            libc.syscall(_LANDLOCK_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", may, place), 0)
            os.close(place)
    libc.syscall(_LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
