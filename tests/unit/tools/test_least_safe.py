"""No version with a known hole is pinned, and none is asked for."""

from packaging.version import Version
from tools.least_safe import ROOT, least, locked, main, open_floors, pinned, too_low

KNOWN = least({"aiohttp": ["3.14.3", "reads beyond a buffer"]})


def test_this_tree_is_safe() -> None:
    assert main() == 0


def test_a_low_pin_is_named_with_what_closes_the_hole() -> None:
    (said,) = too_low("constraints.txt", {"aiohttp": Version("3.14.2"), "idna": Version("1")}, KNOWN)
    assert said == "constraints.txt: aiohttp 3.14.2 has a hole that 3.14.3 closes (reads beyond a buffer)"
    assert not [*too_low("constraints.txt", {"aiohttp": Version("3.14.3")}, KNOWN)]


def test_a_floor_that_admits_a_hole_is_named() -> None:
    def faults(*wanted: str) -> list[str]:
        return [*open_floors("pyproject.toml", {"dependencies": list(wanted)}, KNOWN)]

    assert len(faults("aiohttp>=3.13", "idna")) == 1
    assert len(faults("aiohttp")) == 1
    assert faults("aiohttp>=3.14.3,<4") == []


def test_extras_are_looked_at_too() -> None:
    project = {"dependencies": [], "optional-dependencies": {"more": ["aiohttp>=3"], "dev": ["aiohttp"]}}
    assert len([*open_floors("pyproject.toml", project, KNOWN)]) == 1


def test_the_files_of_this_tree_are_read() -> None:
    assert "aiohttp" in pinned(ROOT / "constraints.txt")
    assert "handlebars" in locked(ROOT)
