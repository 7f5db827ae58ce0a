-- name: announce_changes
-- On the channel of changed rows, so that a process has one ear for all that its caches know.
SELECT pg_notify('tidings_changes', 'upstream ' || changed.key) FROM unnest(:keys::text[]) AS changed (key);
