-- name: put_reader
-- Made where it is not there; what is not given stays.
INSERT INTO notification.event_readers (tenant_id, name, types, cursor, tests_only, created_at, updated_at)
VALUES (:tenant_id, :name, coalesce(:types::text[], ARRAY['>']), :cursor, :tests_only, :now, :now)
ON CONFLICT (tenant_id, name) DO UPDATE SET
    types = coalesce(:types::text[], event_readers.types),
    cursor = CASE WHEN :moves THEN excluded.cursor ELSE event_readers.cursor END,
    version = event_readers.version + 1, updated_at = excluded.updated_at
WHERE event_readers.tests_only = excluded.tests_only
RETURNING name, types, cursor, tests_only, created_at, updated_at;

-- name: find_reader
-- One reader.
SELECT name, types, cursor, tests_only, created_at, updated_at FROM notification.event_readers
WHERE tenant_id = :tenant_id AND name = :name AND tests_only = :tests_only;

-- name: list_readers
-- All of them: they are few.
SELECT name, types, cursor, tests_only, created_at, updated_at FROM notification.event_readers
WHERE tenant_id = :tenant_id AND tests_only = :tests_only ORDER BY name;

-- name: count_readers
-- Before one is made.
SELECT count(*) FROM notification.event_readers WHERE tenant_id = :tenant_id;

-- name: delete_reader
-- Its place is forgotten.
DELETE FROM notification.event_readers WHERE tenant_id = :tenant_id AND name = :name AND tests_only = :tests_only;

-- name: all_readers
-- Across tenants, without their places.
SELECT tenant_id, name, types FROM notification.event_readers ORDER BY tenant_id, name;
