"""Loads the `.sql` file that stands beside a `.py` file, as named queries with named parameters.

A block is a name line, a sentence that says why, and one statement:

    -- name: claim_due_attempts
    -- Takes the oldest first, so that no row waits behind a newer one.
    SELECT … WHERE due_at <= :now LIMIT :limit;

`:now` becomes `$1`. `::text` casts, quoted strings and comments are left alone. A store that serves the
same table in several schemas writes `{schema}` and is loaded once per schema. What several statements of a file
share stands once, in a block that begins with `-- part: asked`; they write `{asked}` in its place.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, LiteralString, TypeVar

import msgspec

T = TypeVar("T")

#: A source has no attribute of that name.
_MISSING: Final = object()

_BLOCK = re.compile(r"^-- (name|part): (\w+)\s*$", re.MULTILINE)
_TOKEN = re.compile(
    r"""
      (?P<skip> '(?:[^']|'')*'            # a string
              | "(?:[^"]|"")*"            # a quoted identifier
              | --[^\n]*                  # a comment
              | /\*.*?\*/
              | ::                        # a cast
              | :=
      )
    | :(?P<name>[a-z_][a-z0-9_]*)
    """,
    re.VERBOSE | re.DOTALL,
)


class BadQueryFileError(Exception):
    """A `.sql` file does not keep to the form."""


@dataclass(frozen=True, slots=True)
class Query:
    """One statement, ready for the driver."""

    #: The name it has in the file, in the store function and in the metrics.
    name: str
    #: The sentence that says why.
    why: str
    #: The statement with `$1`, `$2`, ….
    text: str
    #: The names behind `$1`, `$2`, …, in order.
    parameters: tuple[str, ...]
    #: Where `oldest` and `newest` are among the arguments, if the statement is bounded by them.
    span: tuple[int, int] | None = None

    def text_for(self, arguments: Sequence[Any]) -> str:
        """The statement for these arguments: the months that they are in are named, so that its plan knows no others.

        Bounds that are parameters are looked at when the plan runs, after all months were locked and made ready.
        """
        if self.span is None:
            return self.text
        oldest, newest = (arguments[place].astimezone(UTC) for place in self.span)
        first, end = oldest.year * 12 + oldest.month - 1, newest.year * 12 + newest.month
        return _in_months(self.text, self.span, first, end) if end - first <= _MOST_MONTHS else self.text

    def arguments(self, values: Mapping[str, Any], *sources: object) -> list[Any]:
        """The values in the order of the statement: those given by name, and attributes of the first source that has one.

        A missing or unknown name is a mistake in our code.
        """
        if len(values) == len(self.parameters):
            with suppress(KeyError):
                return [values[name] for name in self.parameters]
        missing = [name for name in self.parameters if name not in values]
        if len(values) + len(missing) != len(self.parameters):
            raise TypeError(f"{self.name} takes {self.parameters}, got {tuple(values)}")
        if missing:
            values = {**values, **{name: self._attribute(name, sources) for name in missing}}
        return [values[name] for name in self.parameters]

    def _attribute(self, name: str, sources: tuple[object, ...]) -> Any:
        found = [value for source in sources if (value := getattr(source, name, _MISSING)) is not _MISSING]
        if not found:
            raise TypeError(f"{self.name} takes {self.parameters}, and no value is named {name}")
        if name == "tenant_id" and any(value != found[0] for value in found):
            # The transaction comes first: what is another tenant's must not be written as this one's, or as the platform's.
            raise TypeError(f"{self.name} is given rows of another tenant than the transaction's")
        return found[0]


class Queries:
    """The queries of one file, by name: `QUERIES.claim_due_attempts`."""

    def __init__(self, queries: Mapping[str, Query], *, path: Path) -> None:
        self._queries = dict(queries)
        #: The file they came from.
        self.path = path

    @classmethod
    def beside(cls, python_file: str, *, schema: LiteralString | None = None) -> "Queries":
        """Read the `.sql` file with the same stem as `python_file` (pass `__file__`)."""
        path = Path(python_file).with_suffix(".sql")
        text = path.read_text(encoding="utf-8")
        if schema is not None:
            text = text.replace("{schema}", schema)
        loaded = cls(dict(_parse(text, source=path.name)), path=path)
        LOADED.append(loaded)
        return loaded

    def __getattr__(self, name: str) -> Query:
        try:
            return self._queries[name]
        except KeyError as missing:
            raise AttributeError(f"{self.path.name} has no query named {name}") from missing

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries.values())


#: Every file that was loaded, so that the boot and a test can prepare all statements.
LOADED: list[Queries] = []


def sparse(values: list[T]) -> list[T]:
    """A column for `unnest` beside longer ones: where all of it is null it need not be sent at all."""
    return [] if all(value is None for value in values) else values


def created_columns(created_ats: list[datetime]) -> dict[str, Any]:
    """When rows of monthly partitions were created; `oldest` and `newest` let the planner leave out the other months."""
    return {"created_ats": created_ats, "oldest": min(created_ats), "newest": max(created_ats)}


def json_text(value: object) -> str:
    """A value for a column of JSON."""
    return msgspec.json.encode(value).decode()


def _parse(text: str, *, source: str) -> Iterator[tuple[str, Query]]:
    pieces = _BLOCK.split(text)
    blocks = list(zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True))
    parts = {name: _split_why(body.strip())[1] for kind, name, body in blocks if kind == "part"}
    seen: set[str] = set()
    for kind, name, body in blocks:
        if kind == "part":
            continue
        if name in seen:
            raise BadQueryFileError(f"{source}: two queries are named {name}")
        seen.add(name)
        why, statement = _split_why(body.strip())
        for part, words in parts.items():
            statement = statement.replace(f"{{{part}}}", words)
        if not why:
            raise BadQueryFileError(f"{source}: {name} lacks the sentence that says why")
        if not statement:
            raise BadQueryFileError(f"{source}: {name} has no statement")
        numbered, parameters = number_parameters(statement.rstrip().rstrip(";"))
        span = (parameters.index("oldest"), parameters.index("newest")) if _BOUNDS.search(statement) else None
        yield name, Query(name=name, why=why, text=numbered, parameters=parameters, span=span)


@lru_cache(maxsize=512)
def _in_months(text: str, span: tuple[int, int], first: int, end: int) -> str:
    """With the months from `first` until before `end`, counted from the year 0, as constants beside the bounds."""
    start, stop = (f"'{month // 12:04}-{month % 12 + 1:02}-01 00:00:00+00'" for month in (first, end))
    bounds = rf"([\w.]+) BETWEEN \${span[0] + 1} AND \${span[1] + 1}\b"
    return re.sub(bounds, rf"\g<0> AND \g<1> >= {start} AND \g<1> < {stop}", text)


def _split_why(body: str) -> tuple[str, str]:
    lines = body.splitlines()
    count = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    why = " ".join(line.removeprefix("--").strip() for line in lines[:count])
    return why, "\n".join(lines[count:]).strip()


#: How a statement leaves out months of a table: the column, and the bounds of what it was given.
_BOUNDS: Final = re.compile(r"([\w.]+) BETWEEN :oldest AND :newest")
#: More than that in one set is no hot path, and would make a statement of its own for each stretch of time.
_MOST_MONTHS: Final = 2


def number_parameters(statement: str) -> tuple[str, tuple[str, ...]]:
    """Turn `:name` into `$n`; the same name keeps the same number."""
    order: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match.group("name")
        if name is None:
            return match.group(0)
        if name not in order:
            order.append(name)
        return f"${order.index(name) + 1}"

    return _TOKEN.sub(number, statement), tuple(order)
