-- name: registered_tables
-- The registry is data, so that a migration that adds a table also adds its partitions.
SELECT parent, unit, ahead, fillfactor, keep
FROM kernel.partitioned_tables
ORDER BY parent;

-- name: registry_exists
-- A database that is only half migrated has none.
SELECT to_regclass('kernel.partitioned_tables') IS NOT NULL;

-- name: is_attached
-- Under the maker's lock: whether somebody made it since we looked.
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = to_regclass(:name)
);

-- name: server_time
-- The relay stamps events with the server's clock; ours may differ.
SELECT clock_timestamp();

-- name: detached_partitions
-- Tables that stand beside their parent under a partition's name: detached, and not dropped before a crash.
SELECT t.parent, n.nspname || '.' || c.relname AS name
FROM kernel.partitioned_tables AS t
JOIN pg_catalog.pg_class AS p ON p.oid = to_regclass(t.parent)
JOIN pg_catalog.pg_class AS c ON c.relnamespace = p.relnamespace AND c.relkind = 'r' AND NOT c.relispartition
    AND starts_with(c.relname, p.relname || '_y')
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE t.keep IS NOT NULL AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = c.oid);

-- name: attached_partitions
-- Only what is attached counts: a table of the right name that stands beside its parent takes no rows.
SELECT n.nspname || '.' || c.relname AS name
FROM kernel.partitioned_tables AS t
JOIN pg_catalog.pg_class AS p ON p.oid = to_regclass(t.parent)
JOIN pg_catalog.pg_inherits AS i ON i.inhparent = p.oid
JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace;

-- name: held_partitions
-- Months of ledgers that are not exported yet, attached or not: they are kept, however old they are.
SELECT n.nspname || '.' || c.relname AS name
FROM kernel.partitioned_tables AS t
JOIN pg_catalog.pg_class AS p ON p.oid = to_regclass(t.parent)
JOIN pg_catalog.pg_class AS c ON c.relnamespace = p.relnamespace AND c.relkind = 'r' AND starts_with(c.relname, p.relname || '_y')
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE t.after_export AND NOT EXISTS (
    SELECT FROM kernel.exported_months AS e WHERE e.parent = t.parent AND right(c.relname, 8) = to_char(e.month, '"y"YYYY"m"MM')
);
