"""Houses whose database is a copy: making the schema and publishing the templates is most of what a house's start computes."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.house import House

from tests.support.forked import ForkedProcess
from tests.support.used_data_dir import copied, made_once, new_data_dir


@contextlib.contextmanager
def prepared_house(
    *,
    workers: int = 1,
    apart: Sequence[str] = (),
    vendors: dict[str, dict[str, object]],
    extra: dict[str, str] | None = None,
) -> Iterator[House]:
    """One that nobody has lived in; its processes are forked."""
    with new_data_dir() as place:
        copied(made_once("prepared-house", _make), place)
        with House(
            workers=workers, apart=apart, vendors=vendors, extra=extra, place=place, start=ForkedProcess
        ) as house:
            yield house


def _make(place: Path) -> None:
    with House(workers=0, vendors={}, place=place, start=ForkedProcess):
        pass
    (place / "postgres.port").unlink()
