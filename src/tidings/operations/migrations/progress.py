"""What a run reports to the operator; `str()` of each is one line for people."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingForOther:
    """Another run holds the lock."""

    holder: str

    def __str__(self) -> str:
        return f"another migration is running ({self.holder}); waiting for it to end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """A file is being applied."""

    name: str
    #: Statements that an earlier run has done already.
    done_before: int

    def __str__(self) -> str:
        return f"{self.name}: " + (
            f"going on after statement {self.done_before}" if self.done_before else "begins"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A file is applied."""

    name: str
    duration: timedelta

    def __str__(self) -> str:
        return f"{self.name}: done in {self.duration.total_seconds():.2f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """A newer release has changed the schema in a way that this one can live with."""

    name: str
    release: str
    oldest_release: str

    def __str__(self) -> str:
        return (
            f"the database is ahead of this release ({self.release}): {self.name} came with a newer one, and works "
            f"with {self.oldest_release} or later"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """A lock was not given in time; we stepped back to let others pass and will ask again."""

    name: str
    line: int
    attempt: int
    attempts: int

    def __str__(self) -> str:
        return f"{self.name}, line {self.line}: the table is busy; attempt {self.attempt} of {self.attempts}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexProgress:
    """One more table of an online index is done."""

    index: str
    table: str
    done: int
    total: int

    def __str__(self) -> str:
        return f"index {self.index}: {self.done} of {self.total} ({self.table})"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedBefore:
    """The run ends early, because the next file belongs to the other phase."""

    name: str
    other_phase: str

    def __str__(self) -> str:
        advice = (
            "start the new code everywhere, then run `tidings migrate up --phase post`"
            if self.other_phase == "post"
            else "run `tidings migrate up --phase pre` first"
        )
        return f"stopped before {self.name}: {advice}, or leave out --phase where nothing is being served"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressWarning:
    """Something the operator should know."""

    text: str

    def __str__(self) -> str:
        return f"warning: {self.text}"


Event: TypeAlias = (
    WaitingForOther | Ahead | Began | Finished | Busy | IndexProgress | StoppedBefore | ProgressWarning
)
Report: TypeAlias = Callable[[Event], None]


def unheard(_event: Event) -> None:
    """The report of a caller who does not watch."""
