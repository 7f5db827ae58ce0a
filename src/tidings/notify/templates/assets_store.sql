-- name: put_assets
-- New ones and changed ones in one statement.
INSERT INTO notification.template_assets (tenant_id, version_id, name, content, created_at)
SELECT :tenant_id, fresh.version_id, fresh.name, fresh.content, :now
FROM unnest(CAST(:version_ids AS text[]), CAST(:names AS text[]), CAST(:contents AS bytea[]))
     AS fresh (version_id, name, content)
ORDER BY fresh.version_id, fresh.name
ON CONFLICT (tenant_id, version_id, name) DO UPDATE SET content = excluded.content, created_at = excluded.created_at;

-- name: put_platform_assets
-- The same for the platform's.
INSERT INTO notification_platform.template_assets (version_id, name, content, created_at)
SELECT fresh.version_id, fresh.name, fresh.content, :now
FROM unnest(CAST(:version_ids AS text[]), CAST(:names AS text[]), CAST(:contents AS bytea[]))
     AS fresh (version_id, name, content)
ORDER BY fresh.version_id, fresh.name
ON CONFLICT (version_id, name) DO UPDATE SET content = excluded.content, created_at = excluded.created_at;

-- name: delete_assets
-- Those that are named, each with its version.
DELETE FROM notification.template_assets AS mine
USING unnest(CAST(:version_ids AS text[]), CAST(:names AS text[])) AS gone (version_id, name)
WHERE mine.tenant_id = :tenant_id AND mine.version_id = gone.version_id AND mine.name = gone.name;

-- name: delete_platform_assets
-- The same for the platform's.
DELETE FROM notification_platform.template_assets AS mine
USING unnest(CAST(:version_ids AS text[]), CAST(:names AS text[])) AS gone (version_id, name)
WHERE mine.version_id = gone.version_id AND mine.name = gone.name;

-- name: note_assets
-- What a draft has from now on; an approval was for what it showed before.
UPDATE notification.template_versions
SET assets = CAST(CAST(:assets AS text) AS jsonb), approver_user_id = NULL, approved_at = NULL,
    version = version + 1, updated_at = :now
WHERE tenant_id = :tenant_id AND id = :version_id AND status = 'draft';

-- name: note_platform_assets
-- The same for the platform's.
UPDATE notification_platform.template_versions
SET assets = CAST(CAST(:assets AS text) AS jsonb), approver_user_id = NULL, approved_at = NULL,
    version = version + 1, updated_at = :now
WHERE id = :version_id AND status = 'draft';

-- name: find_assets
-- Those of one version with their bytes; all of them, or one.
SELECT name, content FROM notification.template_assets
WHERE tenant_id = :tenant_id AND version_id = :version_id AND (CAST(:name AS text) IS NULL OR name = :name)
ORDER BY name;

-- name: find_platform_assets
-- The same for the platform's.
SELECT name, content FROM notification_platform.template_assets
WHERE version_id = :version_id AND (CAST(:name AS text) IS NULL OR name = :name)
ORDER BY name;
