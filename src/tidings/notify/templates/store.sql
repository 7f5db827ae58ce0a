-- name: find_template
-- A tenant's own template, whatever its state.
SELECT tenant_id, id, key, channel, category, active_version_id, default_locale, fallback_chain,
       default_priority, platform_semver, version, updated_at
FROM notification.templates
WHERE tenant_id = :tenant_id AND key = :key AND channel = :channel AND status = 'active';

-- name: find_platform_template
-- The platform's template, whatever its state.
SELECT NULL AS tenant_id, id, key, channel, category, active_version_id, default_locale, fallback_chain,
       default_priority, NULL AS platform_semver, version, updated_at
FROM notification_platform.templates
WHERE key = :key AND channel = :channel AND status = 'active';

-- name: lock_template
-- A request that publishes or adds a version locks the template, so that versions come one after the other.
SELECT tenant_id, id, key, channel, category, active_version_id, default_locale, fallback_chain,
       default_priority, platform_semver, version, updated_at
FROM notification.templates
WHERE tenant_id = :tenant_id AND key = :key AND channel = :channel AND status = 'active'
FOR UPDATE;

-- name: lock_platform_template
-- The same for the platform's.
SELECT NULL AS tenant_id, id, key, channel, category, active_version_id, default_locale, fallback_chain,
       default_priority, NULL AS platform_semver, version, updated_at
FROM notification_platform.templates
WHERE key = :key AND channel = :channel AND status = 'active'
FOR UPDATE;

-- name: add_templates
-- Sorted, so that two sets can't wait for each other crosswise. Two who add the same one at once: the second finds the
-- first's row.
INSERT INTO notification.templates
    (tenant_id, id, key, channel, category, default_locale, fallback_chain, default_priority, created_by,
     created_at, updated_at)
SELECT :tenant_id, fresh.id, fresh.key, fresh.channel, fresh.category, fresh.default_locale,
       ARRAY(SELECT jsonb_array_elements_text(CAST(fresh.fallback_chain AS jsonb))), fresh.default_priority,
       :created_by, :now, :now
FROM unnest(
    CAST(:ids AS text[]), CAST(:keys AS text[]), CAST(:channels AS text[]), CAST(:categories AS text[]),
    CAST(:default_locales AS text[]), CAST(:fallback_chains AS text[]), CAST(:default_priorities AS text[])
) AS fresh (id, key, channel, category, default_locale, fallback_chain, default_priority)
ORDER BY fresh.key, fresh.channel
ON CONFLICT (tenant_id, key, channel) DO NOTHING;

-- name: add_platform_templates
-- The same for the platform's.
INSERT INTO notification_platform.templates
    (id, key, channel, category, default_locale, fallback_chain, default_priority, created_by,
     created_at, updated_at)
SELECT fresh.id, fresh.key, fresh.channel, fresh.category, fresh.default_locale,
       ARRAY(SELECT jsonb_array_elements_text(CAST(fresh.fallback_chain AS jsonb))), fresh.default_priority,
       :created_by, :now, :now
FROM unnest(
    CAST(:ids AS text[]), CAST(:keys AS text[]), CAST(:channels AS text[]), CAST(:categories AS text[]),
    CAST(:default_locales AS text[]), CAST(:fallback_chains AS text[]), CAST(:default_priorities AS text[])
) AS fresh (id, key, channel, category, default_locale, fallback_chain, default_priority)
ORDER BY fresh.key, fresh.channel
ON CONFLICT (key, channel) DO NOTHING;

-- name: set_active_version
-- Points the template at the version that is published from now on.
UPDATE notification.templates
SET active_version_id = :version_id, version = version + 1, updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id;

-- name: set_active_platform_version
-- The same for the platform's.
UPDATE notification_platform.templates
SET active_version_id = :version_id, version = version + 1, updated_at = :now
WHERE id = :id;

-- name: set_template_status
-- Put away as a whole, or back as it was; what it points at stays.
UPDATE notification.templates
SET status = :status, version = version + 1, updated_at = :now
WHERE tenant_id = :tenant_id AND key = :key AND channel = :channel AND status <> :status
RETURNING tenant_id, id, key, channel, category, active_version_id, default_locale, fallback_chain,
          default_priority, platform_semver, version, updated_at;

-- name: set_platform_template_status
-- The same for the platform's.
UPDATE notification_platform.templates
SET status = :status, version = version + 1, updated_at = :now
WHERE key = :key AND channel = :channel AND status <> :status
RETURNING NULL AS tenant_id, id, key, channel, category, active_version_id, default_locale, fallback_chain,
          default_priority, NULL AS platform_semver, version, updated_at;

-- name: note_platform_version
-- Which of the platform's versions a template was customised from.
UPDATE notification.templates
SET platform_semver = :platform_semver, version = version + 1, updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id;

-- name: list_semvers
-- The numbers that a template has used.
SELECT semver FROM notification.template_versions WHERE tenant_id = :tenant_id AND template_id = :template_id;

-- name: add_versions
-- Drafts.
INSERT INTO notification.template_versions
    (tenant_id, id, template_id, semver, source, created_by, variables_schema, fallback_chain, preview_samples, sample_names, locales,
     partials, strings, layout, ai_provenance, assets, created_at, updated_at)
SELECT :tenant_id, fresh.id, fresh.template_id, fresh.semver, fresh.source, :created_by,
       CAST(fresh.variables_schema AS jsonb), ARRAY(SELECT jsonb_array_elements_text(CAST(fresh.fallback_chain AS jsonb))),
       CAST(fresh.preview_samples AS jsonb), ARRAY(SELECT json_object_keys(CAST(fresh.preview_samples AS json))),
       CAST(fresh.locales AS jsonb), CAST(fresh.partials AS jsonb),
       CAST(fresh.strings AS jsonb), fresh.layout, CAST(fresh.ai_provenance AS jsonb), CAST(fresh.assets AS jsonb), :now, :now
FROM unnest(
    CAST(:ids AS text[]), CAST(:sources AS text[]), CAST(:variables_schemas AS text[]),
    CAST(:fallback_chains AS text[]), CAST(:samples AS text[]), CAST(:locales AS text[]), CAST(:partials AS text[]),
    CAST(:strings AS text[]), CAST(:layouts AS text[]), CAST(:ai_provenances AS text[]), CAST(:assets AS text[]),
    CAST(:template_ids AS text[]), CAST(:semvers AS text[])
) AS fresh (
    id, source, variables_schema, fallback_chain, preview_samples, locales, partials, strings, layout, ai_provenance,
    assets, template_id, semver
);

-- name: add_platform_versions
-- The same for the platform's.
INSERT INTO notification_platform.template_versions
    (id, template_id, semver, source, created_by, variables_schema, fallback_chain, preview_samples, sample_names, locales,
     partials, strings, layout, ai_provenance, assets, created_at, updated_at)
SELECT fresh.id, fresh.template_id, fresh.semver, fresh.source, :created_by,
       CAST(fresh.variables_schema AS jsonb), ARRAY(SELECT jsonb_array_elements_text(CAST(fresh.fallback_chain AS jsonb))),
       CAST(fresh.preview_samples AS jsonb), ARRAY(SELECT json_object_keys(CAST(fresh.preview_samples AS json))),
       CAST(fresh.locales AS jsonb), CAST(fresh.partials AS jsonb),
       CAST(fresh.strings AS jsonb), fresh.layout, CAST(fresh.ai_provenance AS jsonb), CAST(fresh.assets AS jsonb), :now, :now
FROM unnest(
    CAST(:ids AS text[]), CAST(:sources AS text[]), CAST(:variables_schemas AS text[]),
    CAST(:fallback_chains AS text[]), CAST(:samples AS text[]), CAST(:locales AS text[]), CAST(:partials AS text[]),
    CAST(:strings AS text[]), CAST(:layouts AS text[]), CAST(:ai_provenances AS text[]), CAST(:assets AS text[]),
    CAST(:template_ids AS text[]), CAST(:semvers AS text[])
) AS fresh (
    id, source, variables_schema, fallback_chain, preview_samples, locales, partials, strings, layout, ai_provenance,
    assets, template_id, semver
);

-- name: list_versions
-- Without their texts, which are large; the newest first.
SELECT id, template_id, tenant_id, semver, status, source, created_by, approver_user_id, supersedes_id,
       published_at, archived_at, version, updated_at,
       ARRAY(SELECT jsonb_object_keys(locales) ORDER BY 1) AS locale_tags
FROM notification.template_versions
WHERE tenant_id = :tenant_id AND template_id = :template_id
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;

-- name: list_platform_versions
-- The same for the platform's, whose drafts no tenant sees.
SELECT id, template_id, NULL AS tenant_id, semver, status, source, created_by, approver_user_id, supersedes_id,
       published_at, archived_at, version, updated_at,
       ARRAY(SELECT jsonb_object_keys(locales) ORDER BY 1) AS locale_tags
FROM notification_platform.template_versions
WHERE template_id = :template_id AND (CAST(:drafts AS boolean) OR status <> 'draft')
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;

-- name: find_version
-- One version with all its texts.
SELECT id, template_id, tenant_id, semver, status, source, created_by, approver_user_id, supersedes_id,
       variables_schema, fallback_chain, preview_samples, sample_names, locales, partials, strings, layout, assets, ai_provenance,
       approved_at, published_at, archived_at, version, updated_at
FROM notification.template_versions
WHERE tenant_id = :tenant_id AND template_id = :template_id AND semver = :semver;

-- name: find_platform_version
-- The same for the platform's.
SELECT id, template_id, NULL AS tenant_id, semver, status, source, created_by, approver_user_id, supersedes_id,
       variables_schema, fallback_chain, preview_samples, sample_names, locales, partials, strings, layout, assets, ai_provenance,
       approved_at, published_at, archived_at, version, updated_at
FROM notification_platform.template_versions
WHERE template_id = :template_id AND semver = :semver;

-- name: find_versions
-- Some with all their texts, each by its template and its number.
SELECT v.id, v.template_id, v.tenant_id, v.semver, v.status, v.source, v.created_by, v.approver_user_id, v.supersedes_id,
       v.variables_schema, v.fallback_chain, v.preview_samples, v.sample_names, v.locales, v.partials, v.strings, v.layout, v.assets,
       v.ai_provenance, v.approved_at, v.published_at, v.archived_at, v.version, v.updated_at
FROM unnest(CAST(:template_ids AS text[]), CAST(:semvers AS text[])) AS wanted (template_id, semver)
JOIN notification.template_versions v
    ON v.tenant_id = :tenant_id AND v.template_id = wanted.template_id AND v.semver = wanted.semver;

-- name: find_platform_versions
-- The same for the platform's.
SELECT v.id, v.template_id, NULL AS tenant_id, v.semver, v.status, v.source, v.created_by, v.approver_user_id, v.supersedes_id,
       v.variables_schema, v.fallback_chain, v.preview_samples, v.sample_names, v.locales, v.partials, v.strings, v.layout, v.assets,
       v.ai_provenance, v.approved_at, v.published_at, v.archived_at, v.version, v.updated_at
FROM unnest(CAST(:template_ids AS text[]), CAST(:semvers AS text[])) AS wanted (template_id, semver)
JOIN notification_platform.template_versions v ON v.template_id = wanted.template_id AND v.semver = wanted.semver;

-- name: find_semver
-- The number of a version that another one names.
SELECT semver FROM notification.template_versions WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_platform_semver
-- The same for the platform's.
SELECT semver FROM notification_platform.template_versions WHERE id = :id;

-- name: find_versions_of_all
-- The versions that notifications of several tenants were frozen to, with their templates; each tenant's own and the platform's.
SELECT t.tenant_id AS template_tenant_id, t.key, t.channel, t.category, t.active_version_id, t.default_locale,
       t.fallback_chain AS template_fallback_chain, t.default_priority, t.version AS template_version,
       t.updated_at AS template_updated_at,
       v.id, v.template_id, v.tenant_id, v.semver, v.status, v.source, v.created_by, v.approver_user_id,
       v.supersedes_id, v.variables_schema, v.fallback_chain, v.preview_samples, v.sample_names, v.locales, v.partials, v.strings, v.layout,
       v.assets, v.ai_provenance, v.approved_at, v.published_at,
       v.archived_at, v.version, v.updated_at
FROM unnest(CAST(:tenant_ids AS text[]), CAST(:ids AS text[])) AS wanted (tenant_id, id)
JOIN notification.template_versions v ON v.tenant_id = wanted.tenant_id AND v.id = wanted.id
JOIN notification.templates t ON t.tenant_id = v.tenant_id AND t.id = v.template_id
UNION ALL
SELECT NULL, t.key, t.channel, t.category, t.active_version_id, t.default_locale, t.fallback_chain,
       t.default_priority, t.version, t.updated_at,
       v.id, v.template_id, NULL, v.semver, v.status, v.source, v.created_by, v.approver_user_id,
       v.supersedes_id, v.variables_schema, v.fallback_chain, v.preview_samples, v.sample_names, v.locales, v.partials, v.strings, v.layout,
       v.assets, v.ai_provenance, v.approved_at, v.published_at,
       v.archived_at, v.version, v.updated_at
FROM notification_platform.template_versions v
JOIN notification_platform.templates t ON t.id = v.template_id
WHERE v.id = ANY(CAST(:ids AS text[]));

-- name: keys_in_force
-- What tenants are likely to send next.
SELECT DISTINCT wanted.tenant_id, latest.key
FROM unnest(CAST(:tenant_ids AS text[])) AS wanted (tenant_id)
CROSS JOIN LATERAL (
    SELECT t.key FROM notification.templates AS t
    WHERE t.tenant_id = wanted.tenant_id AND t.status = 'active' AND t.active_version_id IS NOT NULL
    ORDER BY t.updated_at DESC
    LIMIT :of_a_tenant
) AS latest;

-- name: resolve_keys
-- Which version is in force for each channel of a tenant's key: the tenant's own wins over the platform's.
SELECT DISTINCT ON (tenant_id, key, channel) tenant_id, key, channel, active_version_id
FROM (
    SELECT 0 AS rank, wanted.tenant_id, wanted.key, t.channel, t.active_version_id
    FROM unnest(CAST(:tenant_ids AS text[]), CAST(:keys AS text[])) AS wanted (tenant_id, key)
    JOIN notification.templates t ON t.tenant_id = wanted.tenant_id AND t.key = wanted.key
    WHERE t.status = 'active' AND t.active_version_id IS NOT NULL
    UNION ALL
    SELECT 1, wanted.tenant_id, wanted.key, p.channel, p.active_version_id
    FROM unnest(CAST(:tenant_ids AS text[]), CAST(:keys AS text[])) AS wanted (tenant_id, key)
    JOIN notification_platform.templates p ON p.key = wanted.key
    WHERE p.status = 'active' AND p.active_version_id IS NOT NULL
) AS both_sides
ORDER BY tenant_id, key, channel, rank;

-- name: retire_version
-- What was in force until now.
UPDATE notification.template_versions
SET status = 'archived', archived_at = :now, version = version + 1, updated_at = :now
WHERE tenant_id = :tenant_id AND template_id = :template_id AND status = 'active';

-- name: retire_platform_version
-- The same for the platform's.
UPDATE notification_platform.template_versions
SET status = 'archived', archived_at = :now, version = version + 1, updated_at = :now
WHERE template_id = :template_id AND status = 'active';

-- name: activate_version
-- A draft gets its compiled texts with it and never changes again; an archived one comes back as it was.
UPDATE notification.template_versions
SET status = 'active', locales = CAST(CAST(:locales AS text) AS jsonb), supersedes_id = coalesce(supersedes_id, :supersedes_id),
    published_at = coalesce(published_at, :now), archived_at = NULL, version = version + 1, updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id;

-- name: activate_platform_version
-- The same for the platform's.
UPDATE notification_platform.template_versions
SET status = 'active', locales = CAST(CAST(:locales AS text) AS jsonb), supersedes_id = coalesce(supersedes_id, :supersedes_id),
    published_at = coalesce(published_at, :now), archived_at = NULL, version = version + 1, updated_at = :now
WHERE id = :id;

-- name: change_drafts
-- The whole of each; an approval was for what it said before.
UPDATE notification.template_versions AS mine
SET variables_schema = CAST(fresh.variables_schema AS jsonb),
    fallback_chain = ARRAY(SELECT jsonb_array_elements_text(CAST(fresh.fallback_chain AS jsonb))),
    preview_samples = CAST(fresh.preview_samples AS jsonb),
    sample_names = ARRAY(SELECT json_object_keys(CAST(fresh.preview_samples AS json))), locales = CAST(fresh.locales AS jsonb),
    partials = CAST(fresh.partials AS jsonb), strings = CAST(fresh.strings AS jsonb), layout = fresh.layout,
    source = fresh.source, ai_provenance = CAST(fresh.ai_provenance AS jsonb), assets = CAST(fresh.assets AS jsonb),
    approver_user_id = NULL, approved_at = NULL, version = mine.version + 1, updated_at = :now
FROM unnest(
    CAST(:ids AS text[]), CAST(:sources AS text[]), CAST(:variables_schemas AS text[]),
    CAST(:fallback_chains AS text[]), CAST(:samples AS text[]), CAST(:locales AS text[]), CAST(:partials AS text[]),
    CAST(:strings AS text[]), CAST(:layouts AS text[]), CAST(:ai_provenances AS text[]), CAST(:assets AS text[])
) AS fresh (
    id, source, variables_schema, fallback_chain, preview_samples, locales, partials, strings, layout, ai_provenance,
    assets
)
WHERE mine.tenant_id = :tenant_id AND mine.id = fresh.id AND mine.status = 'draft';

-- name: change_platform_drafts
-- The same for the platform's.
UPDATE notification_platform.template_versions AS mine
SET variables_schema = CAST(fresh.variables_schema AS jsonb),
    fallback_chain = ARRAY(SELECT jsonb_array_elements_text(CAST(fresh.fallback_chain AS jsonb))),
    preview_samples = CAST(fresh.preview_samples AS jsonb),
    sample_names = ARRAY(SELECT json_object_keys(CAST(fresh.preview_samples AS json))), locales = CAST(fresh.locales AS jsonb),
    partials = CAST(fresh.partials AS jsonb), strings = CAST(fresh.strings AS jsonb), layout = fresh.layout,
    source = fresh.source, ai_provenance = CAST(fresh.ai_provenance AS jsonb), assets = CAST(fresh.assets AS jsonb),
    approver_user_id = NULL, approved_at = NULL, version = mine.version + 1, updated_at = :now
FROM unnest(
    CAST(:ids AS text[]), CAST(:sources AS text[]), CAST(:variables_schemas AS text[]),
    CAST(:fallback_chains AS text[]), CAST(:samples AS text[]), CAST(:locales AS text[]), CAST(:partials AS text[]),
    CAST(:strings AS text[]), CAST(:layouts AS text[]), CAST(:ai_provenances AS text[]), CAST(:assets AS text[])
) AS fresh (
    id, source, variables_schema, fallback_chain, preview_samples, locales, partials, strings, layout, ai_provenance,
    assets
)
WHERE mine.id = fresh.id AND mine.status = 'draft';

-- name: delete_draft
-- Nothing refers to a draft.
DELETE FROM notification.template_versions WHERE tenant_id = :tenant_id AND id = :id AND status = 'draft';

-- name: delete_platform_draft
-- The same for the platform's.
DELETE FROM notification_platform.template_versions WHERE id = :id AND status = 'draft';

-- name: approve_draft
-- An approver has read it.
UPDATE notification.template_versions
SET approver_user_id = :approver, approved_at = :now, version = version + 1, updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id AND status = 'draft';

-- name: approve_platform_draft
-- The same for the platform's.
UPDATE notification_platform.template_versions
SET approver_user_id = :approver, approved_at = :now, version = version + 1, updated_at = :now
WHERE id = :id AND status = 'draft';

-- name: archive_version
-- Out of force, or never to be published.
UPDATE notification.template_versions
SET status = 'archived', archived_at = :now, version = version + 1, updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id AND status <> 'archived';

-- name: archive_platform_version
-- The same for the platform's.
UPDATE notification_platform.template_versions
SET status = 'archived', archived_at = :now, version = version + 1, updated_at = :now
WHERE id = :id AND status <> 'archived';

-- name: list_templates
-- A tenant sees its own and the platform's; those it has of both are told apart by their owner. The newest first. Drafts
-- of the platform's are the platform's alone.
SELECT t.id, t.tenant_id, t.key, t.channel, t.category, t.active_version_id, t.default_locale, t.fallback_chain,
       t.default_priority, t.platform_semver, t.version, t.updated_at, t.status, active.semver AS active_semver,
       coalesce(active.locale_tags, ARRAY[]::text[]) AS locale_tags, latest.semver AS latest_semver,
       latest.status AS latest_status, latest.asks AS approval_asked_by, theirs.semver AS platform_active_semver
FROM (
    SELECT id, tenant_id, key, channel, category, active_version_id, default_locale, fallback_chain,
           default_priority, platform_semver, version, updated_at, status
    FROM notification.templates
    WHERE tenant_id = :tenant_id
    UNION ALL
    SELECT id, NULL, key, channel, category, active_version_id, default_locale, fallback_chain,
           default_priority, NULL, version, updated_at, status
    FROM notification_platform.templates
    WHERE status = 'active' AND active_version_id IS NOT NULL
) AS t
LEFT JOIN LATERAL (
    SELECT v.semver, ARRAY(SELECT jsonb_object_keys(v.locales) ORDER BY 1) AS locale_tags
    FROM notification.template_versions v
    WHERE t.tenant_id IS NOT NULL AND v.tenant_id = :tenant_id AND v.id = t.active_version_id
    UNION ALL
    SELECT v.semver, ARRAY(SELECT jsonb_object_keys(v.locales) ORDER BY 1)
    FROM notification_platform.template_versions v
    WHERE t.tenant_id IS NULL AND v.id = t.active_version_id
    LIMIT 1
) AS active ON true
LEFT JOIN LATERAL (
    (SELECT v.id, v.semver, v.status,
            CASE WHEN v.status = 'draft' AND v.source = 'ai_drafted' AND v.approver_user_id IS NULL
                 THEN coalesce(v.ai_provenance ->> 'requested_by', v.created_by) END AS asks
     FROM notification.template_versions v
     WHERE t.tenant_id IS NOT NULL AND v.tenant_id = :tenant_id AND v.template_id = t.id
     ORDER BY v.id DESC LIMIT 1)
    UNION ALL
    (SELECT v.id, v.semver, v.status, NULL FROM notification_platform.template_versions v
     WHERE t.tenant_id IS NULL AND v.template_id = t.id AND v.status <> 'draft'
     ORDER BY v.id DESC LIMIT 1)
    LIMIT 1
) AS latest ON true
LEFT JOIN LATERAL (
    SELECT v.semver FROM notification_platform.templates p
    JOIN notification_platform.template_versions v ON v.id = p.active_version_id
    WHERE t.tenant_id IS NOT NULL AND p.key = t.key AND p.channel = t.channel AND p.status = 'active'
) AS theirs ON true
WHERE (CAST(:after_id AS text) IS NULL OR t.id < :after_id)
  AND (CAST(:key AS text) IS NULL OR t.key = :key)
  AND (CAST(:channel AS text) IS NULL OR t.channel = :channel)
  AND (t.status = 'active' OR coalesce(CAST(:status AS text) = 'archived', false))
  AND (CAST(:status AS text) IS NULL OR t.status = :status AND t.status = 'archived'
       OR CASE WHEN t.active_version_id IS NOT NULL THEN 'active' ELSE coalesce(latest.status, 'draft') END = :status)
ORDER BY t.id DESC
LIMIT :limit;

-- name: list_platform_templates
-- The platform's own.
SELECT t.id, NULL AS tenant_id, t.key, t.channel, t.category, t.active_version_id, t.default_locale, t.fallback_chain,
       t.default_priority, NULL AS platform_semver, t.version, t.updated_at, t.status, active.semver AS active_semver,
       coalesce(active.locale_tags, ARRAY[]::text[]) AS locale_tags, latest.semver AS latest_semver,
       latest.status AS latest_status, latest.asks AS approval_asked_by, NULL AS platform_active_semver
FROM notification_platform.templates AS t
LEFT JOIN LATERAL (
    SELECT v.semver, ARRAY(SELECT jsonb_object_keys(v.locales) ORDER BY 1) AS locale_tags
    FROM notification_platform.template_versions v
    WHERE v.id = t.active_version_id
) AS active ON true
LEFT JOIN LATERAL (
    SELECT v.id, v.semver, v.status,
           CASE WHEN v.status = 'draft' AND v.source = 'ai_drafted' AND v.approver_user_id IS NULL
                THEN coalesce(v.ai_provenance ->> 'requested_by', v.created_by) END AS asks
    FROM notification_platform.template_versions v
    WHERE v.template_id = t.id
    ORDER BY v.id DESC LIMIT 1
) AS latest ON true
WHERE (CAST(:after_id AS text) IS NULL OR t.id < :after_id)
  AND (CAST(:key AS text) IS NULL OR t.key = :key)
  AND (CAST(:channel AS text) IS NULL OR t.channel = :channel)
  AND (t.status = 'active' OR coalesce(CAST(:status AS text) = 'archived', false))
  AND (CAST(:status AS text) IS NULL OR t.status = :status AND t.status = 'archived'
       OR CASE WHEN t.active_version_id IS NOT NULL THEN 'active' ELSE coalesce(latest.status, 'draft') END = :status)
ORDER BY t.id DESC
LIMIT :limit;

-- name: locales_in_force
-- Which languages the channels of some keys speak.
SELECT t.key, t.channel, ARRAY(SELECT jsonb_object_keys(v.locales) ORDER BY 1) AS locale_tags
FROM notification.templates t
JOIN notification.template_versions v ON v.tenant_id = t.tenant_id AND v.id = t.active_version_id
WHERE t.tenant_id = :tenant_id AND t.key = ANY(CAST(:keys AS text[])) AND t.status = 'active'
ORDER BY t.key, t.channel;

-- name: locales_in_force_of_platform
-- The same for the platform's.
SELECT t.key, t.channel, ARRAY(SELECT jsonb_object_keys(v.locales) ORDER BY 1) AS locale_tags
FROM notification_platform.templates t
JOIN notification_platform.template_versions v ON v.id = t.active_version_id
WHERE t.key = ANY(CAST(:keys AS text[])) AND t.status = 'active'
ORDER BY t.key, t.channel;

-- name: usage
-- By key and channel, from counts that are kept as notifications are accepted; a few rows for each day.
SELECT category AS key, channel, sum(n)::bigint AS n
FROM notification.counters
WHERE tenant_id = :tenant_id AND day BETWEEN :first AND :last AND name = 'template'
GROUP BY category, channel;
