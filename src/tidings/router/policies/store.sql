-- name: find_in_force
-- At most one for each use case: what a turn of hand-offs goes by.
SELECT id, use_case, strategy, ladder_order, ladder, value_of_a_second, cost_cap_micros, cost_cap_currency,
       session_ttl_seconds, stop_keywords_override, description, version, created_at, updated_at, deleted_at, grace_period_ends_at
FROM chan.fallback_policies
WHERE tenant_id = :tenant_id AND deleted_at IS NULL;

-- name: find_in_force_of_all
-- The same for several tenants.
SELECT mine.*
FROM unnest(:tenant_ids::text[]) AS wanted (tenant_id)
CROSS JOIN LATERAL (
    SELECT tenant_id, id, use_case, strategy, ladder_order, ladder, value_of_a_second, cost_cap_micros, cost_cap_currency,
           session_ttl_seconds, stop_keywords_override, description, version, created_at, updated_at, deleted_at, grace_period_ends_at
    FROM chan.fallback_policies
    WHERE tenant_id = wanted.tenant_id AND deleted_at IS NULL
    OFFSET 0
) AS mine;

-- name: list_policies
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT id, use_case, strategy, ladder_order, ladder, value_of_a_second, cost_cap_micros, cost_cap_currency,
       session_ttl_seconds, stop_keywords_override, description, version, created_at, updated_at, deleted_at, grace_period_ends_at
FROM chan.fallback_policies
WHERE tenant_id = :tenant_id
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
  AND (CAST(:use_case AS text) IS NULL OR use_case = :use_case)
  AND (:with_deleted OR deleted_at IS NULL)
ORDER BY id DESC
LIMIT :limit;

-- name: find_policy
-- By its key, deleted or not.
SELECT id, use_case, strategy, ladder_order, ladder, value_of_a_second, cost_cap_micros, cost_cap_currency,
       session_ttl_seconds, stop_keywords_override, description, version, created_at, updated_at, deleted_at, grace_period_ends_at
FROM chan.fallback_policies
WHERE tenant_id = :tenant_id AND id = :id;

-- name: lock_policy
-- Every change of a policy comes through here, one at a time.
SELECT id, use_case, strategy, ladder_order, ladder, value_of_a_second, cost_cap_micros, cost_cap_currency,
       session_ttl_seconds, stop_keywords_override, description, version, created_at, updated_at, deleted_at, grace_period_ends_at
FROM chan.fallback_policies
WHERE tenant_id = :tenant_id AND id = :id
FOR UPDATE;

-- name: insert_policy
-- Two who make one for the same use case at once: one row stays, and the other is told of it.
INSERT INTO chan.fallback_policies (
    tenant_id, id, use_case, strategy, ladder_order, ladder, value_of_a_second, cost_cap_micros, cost_cap_currency,
    session_ttl_seconds, stop_keywords_override, description, version, created_by, updated_by, created_at, updated_at
)
VALUES (
    :tenant_id, :id, :use_case, :strategy, :ladder_order, :ladder, :value_of_a_second, :cost_cap_micros, :cost_cap_currency,
    :session_ttl_seconds, :stop_keywords::text[], :description, :version, :actor, :actor, :created_at, :updated_at
)
ON CONFLICT (tenant_id, use_case) WHERE deleted_at IS NULL DO NOTHING;

-- name: update_policy
-- Under its lock: the values are whole, not changes.
UPDATE chan.fallback_policies
SET strategy = :strategy, ladder_order = :ladder_order, ladder = :ladder,
    value_of_a_second = :value_of_a_second, cost_cap_micros = :cost_cap_micros,
    cost_cap_currency = :cost_cap_currency, session_ttl_seconds = :session_ttl_seconds,
    stop_keywords_override = :stop_keywords::text[], description = :description, version = :version,
    updated_by = :actor, updated_at = :updated_at, deleted_at = :deleted_at,
    grace_period_ends_at = :grace_period_ends_at
WHERE tenant_id = :tenant_id AND id = :id;

-- name: insert_version
-- In the transaction of the change, so that no version is missing.
INSERT INTO chan.fallback_policy_versions (tenant_id, policy_id, version, snapshot, changed_by, changed_at)
VALUES (:tenant_id, :policy_id, :version, :snapshot, :actor, :now);

-- name: list_versions
-- The newest first.
SELECT version, snapshot, changed_by, changed_at
FROM chan.fallback_policy_versions
WHERE tenant_id = :tenant_id AND policy_id = :policy_id
  AND (CAST(:before AS integer) IS NULL OR version < :before)
ORDER BY version DESC
LIMIT :limit;

-- name: find_version
-- By its key.
SELECT version, snapshot, changed_by, changed_at
FROM chan.fallback_policy_versions
WHERE tenant_id = :tenant_id AND policy_id = :policy_id AND version = :version;
