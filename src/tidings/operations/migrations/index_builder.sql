-- name: find_table
-- Whether the index goes on one table or on a tree of partitions.
SELECT c.oid, n.nspname::text AS schema, c.relname::text AS name, c.relkind = 'p' AS partitioned
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = :schema AND c.relname = :name AND c.relkind IN ('r', 'p', 'm');

-- name: find_partitions
-- The next level only; a partition on its way out is left alone.
SELECT c.oid, n.nspname::text AS schema, c.relname::text AS name, c.relkind = 'p' AS partitioned
FROM pg_catalog.pg_inherits AS i
JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE i.inhparent = :table AND NOT i.inhdetachpending
ORDER BY c.relname;

-- name: count_leaves
-- For "3 of 14".
SELECT pg_catalog.count(*) FROM pg_catalog.pg_partition_tree(:table::oid::regclass) WHERE isleaf;

-- name: find_index
-- By its name: an earlier run may have left it, whole or invalid.
SELECT c.oid, c.relname::text AS name, n.nspname::text AS schema, x.indrelid AS table,
       x.indisvalid AND x.indisready AS valid,
       EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = c.oid) AS attached
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_index AS x ON x.indexrelid = c.oid
WHERE n.nspname = :schema AND c.relname = :name;

-- name: find_attached_index
-- Whatever its name is: Postgres names the index itself when a partition is made under an indexed parent.
SELECT c.oid, c.relname::text AS name, n.nspname::text AS schema, x.indrelid AS table,
       x.indisvalid AND x.indisready AS valid, true AS attached
FROM pg_catalog.pg_inherits AS i
JOIN pg_catalog.pg_index AS x ON x.indexrelid = i.inhrelid
JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE i.inhparent = :parent AND x.indrelid = :table;

-- name: table_exists
-- Retention may drop a partition while we walk the tree.
SELECT EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid = :table);
