-- name: load_keys
-- One trip gives the asked data keys and every tenant key that is needed to open them or to wrap a new one.
-- Both come from one snapshot, so a rotation under way never shows a data key without its tenant key. OFFSET 0 holds
-- the planner to one index look-up per subject: a generic plan without statistics compared all pairs, 50 times slower.
WITH asked AS (
    SELECT found.subject_id, found.version, found.wrapped_key, found.tenant_key_version
    FROM unnest(:subject_ids::text[]) AS wanted (subject_id)
    CROSS JOIN LATERAL (
        SELECT mine.subject_id, mine.version, mine.wrapped_key, mine.tenant_key_version
        FROM kernel.data_keys AS mine
        WHERE mine.tenant_id = :tenant_id AND mine.subject_id = wanted.subject_id
        OFFSET 0
    ) AS found
)
SELECT NULL AS subject_id, version, wrapped_key, NULL::integer AS tenant_key_version, state
FROM kernel.tenant_keys
WHERE tenant_id = :tenant_id AND purpose = 'wrapping'
  AND (state = 'active' OR version IN (SELECT tenant_key_version FROM asked))
UNION ALL
SELECT subject_id, version, wrapped_key, tenant_key_version, NULL FROM asked;

-- name: insert_data_keys
-- Only under a tenant key that is still in use: KEY SHARE makes its retirement wait for us, and a retired one gives
-- no row here, so that the caller starts over with the new one. Ids come sorted, so that two creators can't deadlock.
WITH wrapping AS (
    SELECT version FROM kernel.tenant_keys
    WHERE tenant_id = :tenant_id AND purpose = 'wrapping' AND version = :tenant_key_version AND state = 'active'
    FOR KEY SHARE
)
INSERT INTO kernel.data_keys (tenant_id, subject_id, version, wrapped_key, tenant_key_version)
SELECT :tenant_id, new.subject_id, new.version, new.wrapped_key, wrapping.version
FROM wrapping, unnest(:subject_ids::text[], :versions::integer[], :wrapped_keys::bytea[])
    AS new (subject_id, version, wrapped_key)
ON CONFLICT ON CONSTRAINT pk_data_keys DO NOTHING
RETURNING subject_id;

-- name: insert_tenant_key
-- Two processes may both find no key; one row stays and both read it.
INSERT INTO kernel.tenant_keys (tenant_id, purpose, version, wrapped_key, master_key_id)
VALUES (:tenant_id, :purpose, 1, :wrapped_key, :master_key_id)
ON CONFLICT ON CONSTRAINT pk_tenant_keys DO NOTHING;

-- name: load_pepper
-- `settled` is false for a row of this very transaction: it may be rolled back, so nobody may remember it.
SELECT wrapped_key, created_at <> now() AS settled
FROM kernel.tenant_keys WHERE tenant_id = :tenant_id AND purpose = 'pepper';

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
