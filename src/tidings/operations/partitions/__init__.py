"""Partitions made ahead of time, and an alarm where one is missing."""

from tidings.operations.partitions.make import make_missing
from tidings.operations.partitions.plan import Partition, PartitionedTable, due

__all__ = ["Partition", "PartitionedTable", "due", "make_missing"]
