"""Partitions made ahead of time, dropped when they are over, and an alarm where one is missing."""

from tidings.operations.partitions.drop import drop_old
from tidings.operations.partitions.make import make_missing, make_with
from tidings.operations.partitions.plan import Partition, PartitionedTable, due, over

__all__ = ["Partition", "PartitionedTable", "drop_old", "due", "make_missing", "make_with", "over"]
