"""Ledgers as Parquet in the blob store: month by month, ids alone, each row once."""
