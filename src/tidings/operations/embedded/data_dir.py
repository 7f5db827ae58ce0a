"""The folder that holds everything a Tidings without outside services keeps.

tidings-data/
├── tidings.json     says that this folder is ours, and in which format
├── lock             held (flock) by the running `tidings up`; the kernel lets go of it however that ends
├── secrets.json     passwords of the database roles, mode 600
├── keys/            the master key, mode 600
├── secrets/         what `file://` references lead to; `tidings up` keeps the sandbox's accounts here
├── blobs/           what is too large for a row
├── postgres/        the database cluster
├── clock            how many seconds ahead of the machine its time is, where `tidings up --clock` made one
└── demo.json        address and keys of the demo tenant, mode 600
"""

import contextlib
import fcntl
import json
import os
import secrets
from pathlib import Path
from typing import IO, Any

_FORMAT = 1
#: What may be there before the folder is claimed: the processes of an installation without `tidings up` make these.
_OURS = frozenset({"lock", "keys", "blobs", "secrets", "listen.json"})


class DataDirError(Exception):
    """The data dir can't be used; the message says why and what to do."""


class DataDir:
    """One data dir, opened by one process at a time."""

    def __init__(self, path: Path) -> None:
        #: Absolute, so that a later change of folder does not matter.
        self.path = path.expanduser().absolute()
        self._lock: IO[str] | None = None

    @property
    def postgres(self) -> Path:
        """Where the cluster is, or a link to where it is."""
        return self.path / "postgres"

    @property
    def keys(self) -> Path:
        """Where the master key is kept."""
        return self.path / "keys"

    @property
    def blobs(self) -> Path:
        """Where the blob store keeps its folders."""
        return self.path / "blobs"

    @property
    def demo(self) -> Path:
        """Where `tidings up` writes the demo tenant's address and keys."""
        return self.path / "demo.json"

    @property
    def listening(self) -> Path:
        """Where `tidings listen` keeps the secret that it signs with."""
        return self.path / "listen.json"

    @property
    def clock(self) -> Path:
        """How far ahead of the machine the time is here; only where somebody wanted that."""
        return self.path / "clock"

    def open(self) -> None:
        """Make the folder, or check that it is ours; then lock it for this process."""
        self._claim()
        try:
            lock = (self.path / "lock").open("a+", encoding="ascii")
        except OSError as error:
            raise self._unusable(error) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            lock.close()
            raise DataDirError(
                f"{self.path} is in use by another tidings (pid {holder}); "
                "stop it, or choose another folder with --data-dir"
            ) from None
        self._lock = lock
        try:
            lock.seek(0)
            lock.truncate()
            lock.write(str(os.getpid()))
            lock.flush()
        except OSError as error:
            raise self._unusable(error) from None

    def close(self) -> None:
        """Let go of the lock."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def holder(self) -> int | None:
        """The process that holds the lock, if any does."""
        try:
            with (self.path / "lock").open("r", encoding="ascii") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    text = lock.read().strip()
                    return int(text) if text.isdigit() else None
        except FileNotFoundError:
            return None
        return None

    def secret(self, name: str) -> str:
        """A random secret of that name, made at its first use and kept."""
        file = self.path / "secrets.json"
        known: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
        if name not in known:
            known[name] = secrets.token_urlsafe(24)
            self.write_private(file, known)
        return known[name]

    def write_private(self, file: Path, content: Any) -> None:
        """Write JSON that only we may read; a crash leaves the old file or the new one."""
        draft = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as out:
                json.dump(content, out, indent=2)
                out.write("\n")
                out.flush()
                os.fsync(out.fileno())
            draft.replace(file)
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
            raise self._unusable(error) from None

    def _unusable(self, error: OSError) -> DataDirError:
        return DataDirError(
            f"{self.path} can't be written: {error.strerror}; make room or choose another --data-dir"
        )

    def _claim(self) -> None:
        marker = self.path / "tidings.json"
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o711)
            if marker.exists():
                self._check(marker)
                return
            strangers = sorted(entry.name for entry in self.path.iterdir() if entry.name not in _OURS)
        except PermissionError as error:
            raise DataDirError(
                f"{self.path} can't be used: {error.strerror}; choose another --data-dir"
            ) from None
        except (NotADirectoryError, FileExistsError):
            raise DataDirError(f"{self.path} is not a folder; choose another --data-dir") from None
        except OSError as error:
            raise DataDirError(f"{self.path} can't be used: {error.strerror}") from None
        if strangers:
            raise DataDirError(
                f"{self.path} holds files that are not Tidings' ({strangers[0]}, …); "
                "choose an empty or new folder with --data-dir"
            )
        if os.geteuid() == 0:
            # It is ours, and the user that Postgres runs as has to walk through it.
            self.path.chmod(self.path.stat().st_mode | 0o011)
        self.write_private(marker, {"product": "tidings", "format": _FORMAT})

    def _check(self, marker: Path) -> None:
        try:
            found = json.loads(marker.read_text())
            product, version = found["product"], found["format"]
        except (ValueError, KeyError, TypeError):
            raise DataDirError(f"{marker} is not readable; is {self.path} a Tidings data dir?") from None
        if product != "tidings":
            raise DataDirError(f"{self.path} belongs to {product}; choose another --data-dir")
        if version > _FORMAT:
            raise DataDirError(
                f"{self.path} was made by a newer Tidings (format {version}); upgrade Tidings to open it"
            )
