-- name: list_layouts
-- All of a tenant's; there are few.
SELECT name, text, version, updated_by, updated_at FROM notification.layouts
WHERE tenant_id = :tenant_id
ORDER BY name;

-- name: find_layout
-- One by its name.
SELECT name, text, version, updated_by, updated_at FROM notification.layouts
WHERE tenant_id = :tenant_id AND name = :name;

-- name: lock_layout
-- Every change of one takes this lock.
SELECT name, text, version, updated_by, updated_at FROM notification.layouts
WHERE tenant_id = :tenant_id AND name = :name
FOR UPDATE;

-- name: put_layouts
-- New ones and changed ones in one statement; what is the same stays as it is.
INSERT INTO notification.layouts AS known (tenant_id, name, text, created_at, updated_at, updated_by)
SELECT :tenant_id, fresh.name, fresh.text, :now, :now, :actor
FROM unnest(CAST(:names AS text[]), CAST(:texts AS text[])) AS fresh (name, text)
ORDER BY fresh.name
ON CONFLICT (tenant_id, name) DO UPDATE
SET text = excluded.text, updated_at = excluded.updated_at, updated_by = excluded.updated_by, version = known.version + 1
WHERE known.text IS DISTINCT FROM excluded.text;

-- name: delete_layout
-- Versions that were published with it hold its text.
DELETE FROM notification.layouts WHERE tenant_id = :tenant_id AND name = :name;
