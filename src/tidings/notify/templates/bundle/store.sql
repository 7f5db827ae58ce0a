-- name: pick_versions
-- For each template the version that its authors work on: the newest that is in force or still a draft.
SELECT DISTINCT ON (t.key, t.channel) t.key, t.channel, v.id, v.semver
FROM notification.templates t
JOIN notification.template_versions v ON v.tenant_id = t.tenant_id AND v.template_id = t.id
WHERE t.tenant_id = :tenant_id AND t.status = 'active'
  AND (CAST(:key AS text) IS NULL OR t.key = :key)
  AND (CAST(:channel AS text) IS NULL OR t.channel = :channel)
  AND (v.status = 'active' OR (v.status = 'draft' AND CAST(:drafts AS boolean)))
ORDER BY t.key, t.channel, v.id DESC;

-- name: pick_platform_versions
-- The same for the platform's.
SELECT DISTINCT ON (t.key, t.channel) t.key, t.channel, v.id, v.semver
FROM notification_platform.templates t
JOIN notification_platform.template_versions v ON v.template_id = t.id
WHERE t.status = 'active'
  AND (CAST(:key AS text) IS NULL OR t.key = :key)
  AND (CAST(:channel AS text) IS NULL OR t.channel = :channel)
  AND (v.status = 'active' OR (v.status = 'draft' AND CAST(:drafts AS boolean)))
ORDER BY t.key, t.channel, v.id DESC;

-- name: lock_templates
-- Held before anything is written: who publishes one of them meanwhile waits, and there is no deadlock.
SELECT t.tenant_id, t.id, t.key, t.channel, t.category, t.active_version_id, t.default_locale, t.fallback_chain,
       t.default_priority, t.platform_semver, t.version, t.updated_at, t.status
FROM unnest(CAST(:keys AS text[]), CAST(:channels AS text[])) AS wanted (key, channel)
JOIN notification.templates t
    ON t.tenant_id = :tenant_id AND t.key = wanted.key AND t.channel = wanted.channel
ORDER BY t.key, t.channel
FOR UPDATE OF t;

-- name: lock_platform_templates
-- The same for the platform's.
SELECT NULL AS tenant_id, t.id, t.key, t.channel, t.category, t.active_version_id, t.default_locale, t.fallback_chain,
       t.default_priority, NULL AS platform_semver, t.version, t.updated_at, t.status
FROM unnest(CAST(:keys AS text[]), CAST(:channels AS text[])) AS wanted (key, channel)
JOIN notification_platform.templates t ON t.key = wanted.key AND t.channel = wanted.channel
ORDER BY t.key, t.channel
FOR UPDATE OF t;
