"""A trace as short text: one mark per gate, a word where there is something to tell.

    t+;e+;r+guardian_instead;c+;q~quiet_hours@1763280000;1.h+;1.a-no_address

The letter is the gate, `+` it passed, `-` it stopped, `~` it was deferred (`@` until when, in seconds since 1970);
a number and a point before it say which step, and `#` the id of what stood in the way, or of the guardian. A gate or a reason that this
release does not know is shown as it is.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Literal

from tidings.notify.decide.model import Defer, Gate, Pass, TraceLine, Verdict
from tidings.notify.decide.reasons import GateReason

_CODES: Final[dict[str, str]] = {
    Gate.TENANT: "t",
    Gate.EXPIRY: "e",
    Gate.RECIPIENT: "r",
    Gate.CATEGORY: "c",
    Gate.QUIET_HOURS: "q",
    Gate.DIGEST: "d",
    Gate.LIMITS: "l",
    Gate.STATE: "s",
    Gate.CHANNEL: "h",
    Gate.ADDRESS: "a",
    Gate.SUPPRESSION: "p",
    Gate.SENDER: "f",
    Gate.CHANNEL_LIMIT: "m",
}
_GATES: Final = {code: str(gate) for gate, code in _CODES.items()}
_MARKS: Final = {"pass": "+", "stop": "-", "defer": "~"}
_VERDICTS: Final[dict[str, Literal["pass", "stop", "defer"]]] = {"+": "pass", "-": "stop", "~": "defer"}


def line_of(gate: Gate, verdict: Verdict, *, step: int = 0) -> TraceLine:
    """The line that a gate leaves."""
    if isinstance(verdict, Pass) and verdict.by is not None:
        return TraceLine(gate.value, "pass", verdict.reason, None, step, verdict.by)
    if isinstance(verdict, Pass):
        return _passed(gate, verdict.reason, step)
    if isinstance(verdict, Defer):
        return TraceLine(gate.value, "defer", verdict.reason, verdict.until, step)
    return TraceLine(gate.value, "stop", verdict.reason, None, step, verdict.by)


# Nearly every line says that a gate was passed: there are a few hundred of those, made once.
@lru_cache(maxsize=4096)
def _passed(gate: Gate, reason: GateReason | None, step: int) -> TraceLine:
    return TraceLine(gate.value, "pass", reason, None, step)


#: What a released notification is known by.
RELEASED: Final = line_of(Gate.QUIET_HOURS, Pass(GateReason.QUIET_BUT_RELEASED))


def encode(lines: Iterable[TraceLine]) -> str:
    """The lines as short text."""
    return ";".join(map(_text, lines))


@lru_cache(maxsize=4096)
def _text(line: TraceLine) -> str:
    step = f"{line.step}." if line.step else ""
    until = "" if line.until is None else f"@{int(line.until.timestamp())}"
    by = "" if line.by is None else f"#{line.by}"
    return f"{step}{_CODES.get(line.gate, line.gate)}{_MARKS[line.verdict]}{line.reason or ''}{until}{by}"


def append(trace: str | None, lines: Iterable[TraceLine]) -> str:
    """A trace that was stored before, with more lines."""
    more = encode(lines)
    return f"{trace};{more}" if trace and more else trace or more


def decode(trace: str | None) -> list[TraceLine]:
    """The lines of a stored trace."""
    return [_line(part) for part in trace.split(";")] if trace else []


@lru_cache(maxsize=4096)
def _line(part: str) -> TraceLine:
    head, _, rest = part.partition(".")
    step, body = (int(head), rest) if head.isdigit() else (0, part)
    place = next((i for i, letter in enumerate(body) if letter in _VERDICTS), len(body))
    gate, mark, told = body[:place], body[place : place + 1], body[place + 1 :]
    told, _, by = told.partition("#")
    reason, _, until = told.partition("@")
    return TraceLine(
        gate=_GATES.get(gate, gate),
        verdict=_VERDICTS.get(mark, "pass"),
        reason=reason or None,
        until=datetime.fromtimestamp(int(until), UTC) if until.isdigit() else None,
        step=step,
        by=by or None,
    )
