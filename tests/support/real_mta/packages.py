"""Debian's own mail servers, unpacked into a folder: their packages rule each other out, and their files don't."""

import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

#: The loader's name for the folders that libraries are found in.
_LIBRARIES = (
    "usr/lib/postfix",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "lib/x86_64-linux-gnu",
)


def unpacked(package: str, program: str) -> Path:
    """The folder under which a package's program lies, "/" where it is installed; the test is skipped where it can't be had."""
    if (Path("/") / program).exists():
        return Path("/")
    if os.geteuid() != 0 or shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        pytest.skip(_loudly(package, "the tests are not run by root on Debian"))
    home = Path("/var/cache/tidings-real-mta")  # outlives a run: fetching takes seconds
    home.mkdir(mode=0o755, parents=True, exist_ok=True)
    root = home / package
    with _alone(home / "lock"):
        if not (root / program).exists():
            _fetch(package, root)
    if not (root / program).exists():
        pytest.skip(_loudly(package, "apt-get did not find the package"))
    return root


def environment(root: Path) -> dict[str, str]:
    """For a program of that folder: it finds its libraries there."""
    folders = [str(root / folder) for folder in _LIBRARIES if (root / folder).exists()]
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LD_LIBRARY_PATH": ":".join(folders)}


def user(name: str) -> None:
    """Have a user of this name, as the package's own installation does."""
    make = [
        "/usr/sbin/useradd",
        "--system",
        "--user-group",
        "--no-create-home",
        "--shell",
        "/usr/sbin/nologin",
    ]
    # Another worker may be at it: whoever comes second finds the user made, not half made.
    with _alone(Path(tempfile.gettempdir()) / "tidings-real-mta-users.lock"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            subprocess.run([*make, name], capture_output=True, check=False)


def _fetch(package: str, root: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        archives = Path(folder)
        (archives / "partial").mkdir()
        get = ["apt-get", "install", "--yes", "--quiet", "--download-only", "--no-install-recommends"]
        get += ["-o", f"Dir::Cache::archives={archives}", "-o", "APT::Sandbox::User=root", package]
        if not _works(get) and not (_works(["apt-get", "update", "--quiet"]) and _works(get)):
            return
        parts = root.with_suffix(".part")
        for archive in archives.glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(archive), str(parts)], check=True)
        if parts.exists():
            # Nothing of it is root's to lend; the loader would look nowhere for its libraries, either.
            for file in parts.rglob("*"):
                if file.is_file() and not file.is_symlink() and file.stat().st_mode & 0o6000:
                    file.chmod(0o755)
            parts.chmod(0o755)
            parts.rename(root)


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _loudly(package: str, why: str) -> str:
    return f"NOT TESTED AGAINST A REAL MAIL SERVER: {why} (it would need the package {package})"
