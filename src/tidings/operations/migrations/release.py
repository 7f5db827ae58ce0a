"""Releases: which is the oldest that works on a schema, and which one this is."""

import re
from dataclasses import dataclass
from typing import Final

from tidings import __version__

_VERSION = re.compile(r"(?P<major>\d+)\.(?P<minor>\d+)\.(?P<patch>\d+)")


@dataclass(frozen=True, slots=True, order=True)
class Release:
    """The three numbers of a version; a development or candidate version counts as the release that it becomes."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> "Release":
        """Read `0.1.0`, or the `0.1.0` of `0.1.0.dev0`; anything else is a ValueError."""
        found = _VERSION.match(text)
        if found is None:
            raise ValueError(f"{text!r} is not a release: write three numbers, as in 0.1.0")
        return cls(int(found["major"]), int(found["minor"]), int(found["patch"]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


#: The release that is running.
THIS_RELEASE: Final = Release.parse(__version__)
