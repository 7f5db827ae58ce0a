"""Holds what is pinned and what is asked for against `least-safe-versions.toml`: no version with a known hole."""

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
#: Name of a package → its least safe version, and why.
Least = dict[str, tuple[Version, str]]


def main() -> int:
    """Name every version that is too low."""
    known = tomllib.loads((ROOT / "least-safe-versions.toml").read_text(encoding="utf-8"))
    python, npm = least(known["python"]), least(known["npm"])
    pins = pinned(ROOT / "constraints.txt")
    faults = [*too_low("constraints.txt", pins, python), *too_low("package-lock.json", locked(ROOT), npm)]
    for name in ("pyproject.toml", "client/pyproject.toml"):
        faults += [
            *open_floors(name, tomllib.loads((ROOT / name).read_text(encoding="utf-8"))["project"], python)
        ]
    faults += [
        f"least-safe-versions.toml: {name} is not used any more" for name in python if name not in pins
    ]
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    accepted = ", ".join(known["accepted"])
    sys.stdout.write(
        f"{len(python) + len(npm)} least safe versions held; accepted with a reason: {accepted}\n"
    )
    return 1 if faults else 0


def least(entries: dict[str, list[str]]) -> Least:
    """A table of the file, as versions."""
    return {canonicalize_name(name): (Version(version), why) for name, (version, why) in entries.items()}


def pinned(file: Path) -> dict[str, Version]:
    """What a constraints file pins."""
    found: dict[str, Version] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            wanted = Requirement(line)
            (exactly,) = wanted.specifier
            found[canonicalize_name(wanted.name)] = Version(exactly.version)
    return found


def locked(root: Path) -> dict[str, Version]:
    """What npm's lock pins, by the name of the package."""
    packages = json.loads((root / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    return {
        place.rpartition("node_modules/")[2]: Version(entry["version"])
        for place, entry in packages.items()
        if "node_modules/" in place
    }


def too_low(file: str, pins: dict[str, Version], known: Least) -> Iterator[str]:
    """Pins below the least safe version."""
    for name, version in pins.items():
        if name in known and version < known[name][0]:
            yield f"{file}: {name} {version} has a hole that {known[name][0]} closes ({known[name][1]})"


def open_floors(file: str, project: Mapping[str, object], known: Least) -> Iterator[str]:
    """Requirements that admit a version below the least safe one."""
    extras = project.get("optional-dependencies", {})
    wanted = [*_texts(project.get("dependencies")), *(line for lines in _values(extras) for line in lines)]
    for line in wanted:
        requirement = Requirement(line)
        name = canonicalize_name(requirement.name)
        if name not in known:
            continue
        floors = [
            Version(part.version) for part in requirement.specifier if part.operator in {">=", "==", "~="}
        ]
        if file == "pyproject.toml" and not floors and line in _texts(_dev(extras)):
            continue
        if not floors or max(floors) < known[name][0]:
            yield f"{file}: `{line}` admits versions with a hole that {known[name][0]} closes ({known[name][1]})"


def _dev(extras: object) -> object:
    """What only tests need is installed with constraints.txt alone."""
    return extras.get("dev") if isinstance(extras, dict) else None


def _texts(value: object) -> list[str]:
    return [str(entry) for entry in value] if isinstance(value, list) else []


def _values(extras: object) -> list[list[str]]:
    return [_texts(value) for value in extras.values()] if isinstance(extras, dict) else []


if __name__ == "__main__":
    sys.exit(main())
