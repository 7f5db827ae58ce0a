-- name: roles_present
-- Cluster-wide, so that a missing role is told before the first GRANT fails.
SELECT rolname::text FROM pg_catalog.pg_roles WHERE rolname = ANY (:roles::text[]);

-- name: who_am_i
-- What decides whether this connection may run migrations.
SELECT current_user::text AS name,
       pg_catalog.current_database()::text AS database,
       (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) AS is_superuser,
       pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE') AS may_create,
       pg_catalog.pg_is_in_recovery() AS is_replica,
       pg_catalog.current_setting('transaction_read_only')::boolean AS is_read_only;

-- name: schema_owners
-- Objects of two owners in one database could not be altered by either of them.
SELECT nspname::text AS schema, pg_catalog.pg_get_userbyid(nspowner)::text AS owner
FROM pg_catalog.pg_namespace
WHERE nspname = ANY (:schemas::text[])
ORDER BY nspname;

-- name: try_lock
-- Held by the session, not by a transaction: a run is many transactions.
SELECT pg_catalog.pg_try_advisory_lock(:key::bigint);

-- name: lock_holder
-- For the message to whoever waits.
SELECT pg_catalog.format('process %s of %s, since %s', held.pid, activity.usename, activity.backend_start)
FROM pg_catalog.pg_locks AS held
JOIN pg_catalog.pg_stat_activity AS activity ON activity.pid = held.pid
WHERE held.locktype = 'advisory' AND held.granted
  AND held.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
  AND ((held.classid::bigint << 32) | held.objid::bigint) = :key::bigint
LIMIT 1;
