-- name: find_ai_drafts
-- Of the tenant's own templates; few wait at any time.
SELECT v.id AS version_id, v.version AS revision, t.key, t.channel, v.semver, v.updated_at AS drafted_at, v.ai_provenance AS provenance
FROM notification.template_versions AS v
JOIN notification.templates AS t ON t.tenant_id = v.tenant_id AND t.id = v.template_id
WHERE v.tenant_id = :tenant_id AND v.status = 'draft' AND v.source = 'ai_drafted' AND v.approver_user_id IS NULL
  AND v.ai_provenance IS NOT NULL
ORDER BY v.id DESC
LIMIT 100;
