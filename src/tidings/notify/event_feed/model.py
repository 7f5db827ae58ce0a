"""A reader outside whose place in the feed we keep."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.kernel.bus import SubjectFilter
from tidings.kernel.errors import BadValueError

#: Readers of one tenant at most.
MOST_READERS: Final = 100
_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventReader:
    """A reader with its place."""

    name: str
    #: The types it reads, as NATS writes subjects.
    types: tuple[str, ...]
    #: What it has read.
    cursor: str
    #: It reads events of tests alone.
    tests_only: bool
    created_at: datetime
    updated_at: datetime

    @property
    def wanted(self) -> SubjectFilter:
        """The types as a filter."""
        return SubjectFilter(self.types)


def parse_name(text: str) -> str:
    """A reader's name; a `BadValueError` where it is none."""
    if not _NAME.fullmatch(text):
        raise BadValueError("name", "must be up to 100 lower-case letters, digits, dots, dashes and _")
    return text
