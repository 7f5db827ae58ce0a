-- Emergency only: undoes 0016_pre_partition_helpers.

DROP TABLE IF EXISTS kernel.partitioned_tables;
