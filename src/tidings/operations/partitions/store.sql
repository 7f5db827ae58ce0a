-- name: registered_tables
-- The registry is data, so that a migration that adds a table also adds its partitions.
SELECT parent, unit, ahead, fillfactor, keep
FROM kernel.partitioned_tables
ORDER BY parent;

-- name: attached_partitions
-- Only what is attached counts: a table of the right name that stands beside its parent takes no rows.
SELECT n.nspname || '.' || c.relname AS name
FROM kernel.partitioned_tables AS t
JOIN pg_catalog.pg_class AS p ON p.oid = to_regclass(t.parent)
JOIN pg_catalog.pg_inherits AS i ON i.inhparent = p.oid
JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace;
