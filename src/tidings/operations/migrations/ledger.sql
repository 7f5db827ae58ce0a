-- name: ledger_exists
-- Both tables or none: they are made in one transaction.
SELECT pg_catalog.to_regclass('kernel.schema_migrations') IS NOT NULL
   AND pg_catalog.to_regclass('kernel.schema_migrations_log') IS NOT NULL;

-- name: ledger_is_complete
-- A ledger that an earlier release has made lacks the column that came last.
SELECT EXISTS (
  SELECT FROM pg_catalog.pg_attribute
  WHERE attrelid = pg_catalog.to_regclass('kernel.schema_migrations') AND attname = 'oldest_release'
) AND pg_catalog.to_regclass('kernel.schema_migrations_log') IS NOT NULL;

-- name: read_ledger
-- All rows; there are only as many as files. A ledger of an earlier release lacks the last column, hence the JSON.
SELECT number, slug, phase, checksum, started_at, finished_at, statements_done, applied_by, duration,
       pg_catalog.to_jsonb(m) ->> 'oldest_release' AS oldest_release
FROM kernel.schema_migrations AS m
ORDER BY number;

-- name: record_start
-- Committed before the first statement of a file without a transaction, so that a crash leaves a trace.
INSERT INTO kernel.schema_migrations (number, slug, phase, checksum, applied_by, oldest_release)
VALUES (:number, :slug, :phase, :checksum, :applied_by, :oldest_release)
ON CONFLICT (number) DO NOTHING;

-- name: record_progress
-- Says where the next run has to go on.
UPDATE kernel.schema_migrations
SET statements_done = :statements_done, duration = duration + :took
WHERE number = :number;

-- name: record_finish
-- From here on the file counts as applied.
UPDATE kernel.schema_migrations
SET finished_at = pg_catalog.clock_timestamp(), applied_by = :applied_by
WHERE number = :number;

-- name: record_reopening
-- A file that is being undone in steps counts as half-applied, from its first statement on.
UPDATE kernel.schema_migrations SET finished_at = NULL, statements_done = 0 WHERE number = :number;

-- name: forget
-- Only the emergency command does this, in the transaction that undoes the file.
DELETE FROM kernel.schema_migrations WHERE number = :number;

-- name: log_action
-- The log survives what the ledger forgets.
INSERT INTO kernel.schema_migrations_log (action, number, slug, checksum, by, reason)
VALUES (:action, :number, :slug, :checksum, :by, :reason);
