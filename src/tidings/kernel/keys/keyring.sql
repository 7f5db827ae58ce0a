-- name: load_keys
-- One trip gives the asked data keys and every tenant key that is needed to open them or to wrap a new one.
-- `settled` is false for a tenant key of this very transaction: it may be rolled back, so nobody may remember it.
-- Both come from one snapshot, so a rotation under way never shows a data key without its tenant key. OFFSET 0 holds
-- the planner to one index look-up per subject: a generic plan without statistics compared all pairs, 50 times slower.
WITH asked AS (
    SELECT found.tenant_id, found.subject_id, found.version, found.wrapped_key, found.tenant_key_version
    FROM unnest(:tenant_ids::text[], :subject_ids::text[]) AS wanted (tenant_id, subject_id)
    CROSS JOIN LATERAL (
        SELECT mine.tenant_id, mine.subject_id, mine.version, mine.wrapped_key, mine.tenant_key_version
        FROM kernel.data_keys AS mine
        WHERE mine.tenant_id = wanted.tenant_id AND mine.subject_id = wanted.subject_id
        OFFSET 0
    ) AS found
)
SELECT wrapping.tenant_id, NULL AS subject_id, wrapping.version, wrapping.wrapped_key, NULL::integer AS tenant_key_version,
       wrapping.state, wrapping.settled
FROM unnest(:owner_ids::text[]) AS owner (tenant_id)
CROSS JOIN LATERAL (
    SELECT mine.tenant_id, mine.version, mine.wrapped_key, mine.state, mine.created_at <> now() AS settled
    FROM kernel.tenant_keys AS mine
    WHERE mine.tenant_id = owner.tenant_id AND mine.purpose = 'wrapping'
      AND (mine.state = 'active' OR EXISTS (
          SELECT FROM asked WHERE asked.tenant_id = mine.tenant_id AND asked.tenant_key_version = mine.version))
    OFFSET 0
) AS wrapping
UNION ALL
SELECT tenant_id, subject_id, version, wrapped_key, tenant_key_version, NULL, NULL FROM asked;

-- name: insert_data_keys
-- Only under the newest tenant key in use: KEY SHARE makes its retirement wait for us, and one that is retired or has a
-- successor gives no row here, so that the caller, who may have remembered it, starts over with the new one. Sorted, so that two
-- creators can't deadlock.
WITH new AS (
    SELECT tenant_id, subject_id, version, wrapped_key, tenant_key_version
    FROM unnest(:tenant_ids::text[], :subject_ids::text[], :versions::integer[], :wrapped_keys::bytea[],
                :tenant_key_versions::integer[]) AS given (tenant_id, subject_id, version, wrapped_key, tenant_key_version)
), wrapping AS (
    SELECT known.tenant_id, known.version
    FROM (SELECT DISTINCT tenant_id, tenant_key_version FROM new ORDER BY tenant_id) AS used
    CROSS JOIN LATERAL (
        SELECT mine.tenant_id, mine.version FROM kernel.tenant_keys AS mine
        WHERE mine.tenant_id = used.tenant_id AND mine.purpose = 'wrapping' AND mine.version = used.tenant_key_version
          AND mine.state = 'active'
          AND NOT EXISTS (
              SELECT FROM kernel.tenant_keys AS newer
              WHERE newer.tenant_id = used.tenant_id AND newer.purpose = 'wrapping' AND newer.version > used.tenant_key_version
                AND newer.state = 'active')
        FOR KEY SHARE
    ) AS known
)
INSERT INTO kernel.data_keys (tenant_id, subject_id, version, wrapped_key, tenant_key_version)
SELECT new.tenant_id, new.subject_id, new.version, new.wrapped_key, new.tenant_key_version
FROM new JOIN wrapping ON wrapping.tenant_id = new.tenant_id AND wrapping.version = new.tenant_key_version
ORDER BY new.tenant_id, new.subject_id
ON CONFLICT ON CONSTRAINT pk_data_keys DO NOTHING
RETURNING tenant_id, subject_id;

-- name: insert_tenant_keys
-- Two processes may both find no key; one row stays and both read it. Tenants come sorted, so that they can't deadlock.
INSERT INTO kernel.tenant_keys (tenant_id, purpose, version, wrapped_key, master_key_id)
SELECT tenant_id, :purpose, 1, wrapped_key, master_key_id
FROM unnest(:tenant_ids::text[], :wrapped_keys::bytea[], :master_key_ids::text[]) AS new (tenant_id, wrapped_key, master_key_id)
ORDER BY tenant_id
ON CONFLICT ON CONSTRAINT pk_tenant_keys DO NOTHING;

-- name: load_peppers
-- `settled` is false for a row of this very transaction: it may be rolled back, so nobody may remember it.
SELECT pepper.tenant_id, pepper.wrapped_key, pepper.settled
FROM unnest(:tenant_ids::text[]) AS owner (tenant_id)
CROSS JOIN LATERAL (
    SELECT mine.tenant_id, mine.wrapped_key, mine.created_at <> now() AS settled
    FROM kernel.tenant_keys AS mine
    WHERE mine.tenant_id = owner.tenant_id AND mine.purpose = 'pepper'
    OFFSET 0
) AS pepper;

-- name: bury_subjects
-- The row of version 1 is the subject's lock: creators and rotators meet us here. A subject without a key gets a
-- destroyed one, so that a late writer can't make it a new key.
INSERT INTO kernel.data_keys AS mine (tenant_id, subject_id, version, wrapped_key, tenant_key_version, destroyed_at)
SELECT :tenant_id, gone.subject_id, 1, NULL, 0, now()
FROM unnest(:subject_ids::text[]) AS gone (subject_id)
ON CONFLICT ON CONSTRAINT pk_data_keys DO UPDATE SET wrapped_key = NULL, destroyed_at = now()
    WHERE mine.destroyed_at IS NULL;

-- name: destroy_versions
-- A statement of its own, to see the versions that were added while we waited for the lock.
UPDATE kernel.data_keys SET wrapped_key = NULL, destroyed_at = now()
WHERE tenant_id = :tenant_id AND subject_id = ANY(:subject_ids::text[])
  AND destroyed_at IS NULL;

-- name: lock_subject
-- Whoever adds or destroys versions of a subject's key comes through here, one at a time.
SELECT version FROM kernel.data_keys
WHERE tenant_id = :tenant_id AND subject_id = :subject_id AND version = 1 FOR UPDATE;

-- name: load_platform_keys
-- All versions: what an old one sealed still has to be read.
SELECT version, wrapped_key, created_at <> now() AS settled
FROM kernel.platform_keys WHERE purpose = :purpose ORDER BY version;

-- name: insert_platform_key
-- Two processes may both find none; one row stays and both read it.
INSERT INTO kernel.platform_keys (purpose, version, wrapped_key, master_key_id)
VALUES (:purpose, 1, :wrapped_key, :master_key_id)
ON CONFLICT ON CONSTRAINT pk_platform_keys DO NOTHING;
