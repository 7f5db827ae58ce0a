"""Writes rows into a Parquet file on the local disk, and reads one to see that it is whole."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tidings.backoffice.exports.ledgers import Ledger
from tidings.kernel.db import Row
from tidings.kernel.errors import NotConfiguredError

_MISSING: Final = (
    "exports need pyarrow, which is not installed: pip install 'tidings-platform[exports]', and start again"
)


class ParquetFile:
    """A file that is being written, set by set: only a set is ever in memory."""

    def __init__(self, path: Path, ledger: Ledger) -> None:
        """A `NotConfiguredError` where the library is not installed."""
        pq = _parquet()
        self._ledger = ledger
        self._schema = _schema(ledger)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd", version="2.6")
        #: Rows in it so far.
        self.rows = 0

    def write(self, rows: Sequence[Row]) -> None:
        """Add a set; it takes a while, so call it in a thread."""
        import pyarrow as pa

        columns = [
            pa.array([row[name] for row in rows], type=field.type)
            for name, field in zip(self._ledger.columns, self._schema, strict=True)
        ]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))
        self.rows += len(rows)

    def close(self) -> None:
        """Write its end, without which nobody can read it."""
        self._writer.close()


def count_rows(path: Path, ledger: Ledger) -> int:
    """How many different rows a file holds; a `ValueError` where it can't be read, or a row is in it twice."""
    pq = _parquet()
    import pyarrow as pa

    try:
        file = pq.ParquetFile(path)
        if file.schema_arrow.names != list(ledger.columns):
            raise ValueError("the file has other columns than its ledger")
        keys = file.read(columns=list(ledger.unique))
    except pa.ArrowException as error:
        raise ValueError("the file is no whole Parquet file") from error
    different = keys.group_by(list(ledger.unique)).aggregate([]).num_rows
    if different != file.metadata.num_rows:
        raise ValueError(f"{file.metadata.num_rows - different} rows are in the file twice")
    return int(different)


def _schema(ledger: Ledger) -> Any:
    import pyarrow as pa

    types: Mapping[str, Any] = {"text": pa.string(), "time": pa.timestamp("us", tz="UTC"), "int": pa.int32()}
    return pa.schema([(name, types[kind]) for name, kind in ledger.columns.items()])


def _parquet() -> Any:
    # Not installed with the rest: it is larger than all of Tidings.
    try:
        import pyarrow.parquet
    except ImportError:
        raise NotConfiguredError(_MISSING) from None
    return pyarrow.parquet
