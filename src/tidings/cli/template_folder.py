"""A folder of templates on this machine: read to be sent, written with what came."""

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.cli.failures import CommandError

if TYPE_CHECKING:
    from tidings.notify.templates.bundle.archive import ArchiveLimits

#: In which folders the parts of a bundle lie.
_FOLDERS = ("templates", "layouts", "assets")


@dataclass(frozen=True, slots=True)
class Name:
    """`welcome` for all its channels, or `welcome/email`."""

    key: str
    channel: str | None = None

    def covers(self, path: str) -> bool:
        """Whether a file belongs to it."""
        home = f"templates/{self.key}/" + (f"{self.channel}/" if self.channel else "")
        return path.startswith(home)

    def one_channel(self) -> str:
        """Its channel; a `CommandError` where it means all of them."""
        if self.channel is None:
            raise CommandError(f"say for which channel: {self.key}/email, {self.key}/sms, …")
        return self.channel

    def __str__(self) -> str:
        return self.key if self.channel is None else f"{self.key}/{self.channel}"


def names_of(words: Sequence[str]) -> list[Name]:
    """What was typed, as names; a `CommandError` where it is none."""
    found = []
    for word in words:
        key, slash, channel = word.strip("/").partition("/")
        if not key or "/" in channel or (slash and not channel):
            raise CommandError(f"{word!r} must be a key such as welcome, or key and channel: welcome/email")
        found.append(Name(key, channel or None))
    return found


def chosen(files: Mapping[str, bytes], names: Sequence[Name]) -> dict[str, bytes]:
    """The files of these templates, with the layouts that they may use; all where none is named."""
    return {
        path: raw
        for path, raw in files.items()
        if not names or path.startswith("layouts/") or any(name.covers(path) for name in names)
    }


def refuse_unknown(names: Sequence[Name], folder: Path, *sides: Mapping[str, bytes]) -> None:
    """A `CommandError` with those names that no side has a file of."""
    unknown = [str(name) for name in names if not any(name.covers(path) for side in sides for path in side)]
    if unknown:
        raise CommandError(
            f"there is no template {' and no '.join(unknown)}, neither in {folder / 'templates'} nor on the server; "
            "`tidings template list` shows those there are"
        )


def read_folder(folder: Path) -> dict[str, bytes]:
    """Every file of the bundle by its path in it; what begins with a dot is not part of it."""
    from tidings.notify.templates.bundle.archive import ArchiveLimits

    if not folder.is_dir():
        raise CommandError(
            f"there is no folder {folder}; name it with --folder, or make it with `tidings template pull`"
        )
    limits, found = ArchiveLimits(), {}
    for part in _FOLDERS:
        for file in _walk(folder / part):
            path = file.relative_to(folder).as_posix()
            found[path] = _read(file, limits)
            if len(found) > limits.files:
                raise CommandError(f"{folder} has more than {limits.files} files; name the templates to send")
    return found


def packed_folder(folder: Path, names: Sequence[str]) -> bytes:
    """A zip of the named templates in the folder; of all of them where none is named."""
    from tidings.notify.templates.bundle.write import pack

    wanted, there = names_of(names), read_folder(folder)
    for name in wanted:
        if not any(name.covers(path) for path in there):
            raise CommandError(f"there is no {folder / 'templates' / str(name)}")
    found = chosen(there, wanted)
    if not homes(found) and not any(path.startswith("layouts/") for path in found):
        raise CommandError(
            f"there is no template under {folder / 'templates'}; name another folder with --folder"
        )
    return pack(found)


def homes(files: Iterable[str]) -> set[str]:
    """The folders of the templates that these files are of."""
    return {
        "/".join(parts[:3])
        for path in files
        if (parts := path.split("/"))[0] == "templates" and len(parts) > 3
    }


def left_over(here: Iterable[str], found: Mapping[str, bytes]) -> list[str]:
    """Files of the same templates that lie here and not on the server."""
    known = homes(found)
    return sorted(path for path in here if path not in found and homes([path]) & known)


def _walk(folder: Path) -> Iterable[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files) + [f for f in folders if (Path(parent) / f).is_symlink()]:
            file = Path(parent) / name
            if file.is_symlink():
                raise CommandError(f"{file} is a link; put the file itself in its place")
            if not name.startswith(".") and not name.endswith("~"):
                yield file


def _read(file: Path, limits: "ArchiveLimits") -> bytes:
    try:
        if file.stat().st_size > limits.bytes_each:
            raise CommandError(f"{file} has more than {limits.bytes_each} bytes; make it smaller")
        return file.read_bytes()
    except OSError as error:
        raise CommandError(f"{file} can't be read: {error.strerror}") from None


def write_folder(folder: Path, files: Mapping[str, bytes]) -> int:
    """Write what differs, each file whole or not at all; how many were written."""
    from tidings.notify.templates.bundle.archive import name_fault
    from tidings.notify.templates.device_names import device_fault

    for path in files:
        if fault := device_fault(path):
            raise CommandError(
                f"{path} {fault[0]}; nothing was written: make it anew under another name, "
                "or name the templates to pull: `tidings template pull welcome`"
            )
    written = 0
    for path, raw in sorted(files.items()):
        target = folder / path
        if (
            name_fault(path)
            or not target.parent.resolve().is_relative_to(folder.resolve())
            or target.is_symlink()
        ):
            raise CommandError(f"{target} leads out of {folder}; nothing was written there")
        if target.is_file() and target.read_bytes() == raw:
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, raw)
        except OSError as error:
            raise CommandError(f"{target} can't be written: {error.strerror}") from None
        written += 1
    return written


def _replace(target: Path, raw: bytes) -> None:
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=".tidings-")
    try:
        with os.fdopen(handle, "wb") as into:
            into.write(raw)
        Path(beside).chmod(0o644)
        Path(beside).replace(target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
