-- name: invalid_indexes
-- Left behind by a CREATE INDEX CONCURRENTLY that failed; a partitioned one also while its parts are missing.
SELECT n.nspname::text AS schema, c.relname::text AS name, t.relname::text AS table
FROM pg_catalog.pg_index AS x
JOIN pg_catalog.pg_class AS c ON c.oid = x.indexrelid
JOIN pg_catalog.pg_class AS t ON t.oid = x.indrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ANY (:schemas::text[]) AND NOT (x.indisvalid AND x.indisready)
ORDER BY n.nspname, c.relname;
