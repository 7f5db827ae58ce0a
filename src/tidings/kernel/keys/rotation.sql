-- name: lock_rotation
-- Two rotations of one tenant take turns. NO KEY UPDATE lets those pass who are making data keys meanwhile.
SELECT version FROM kernel.tenant_keys
WHERE tenant_id = :tenant_id AND purpose = 'wrapping' ORDER BY version FOR NO KEY UPDATE;

-- name: lock_old_tenant_keys
-- Waits for everybody who is still making a data key under an old version, and keeps others from beginning.
SELECT version FROM kernel.tenant_keys
WHERE tenant_id = :tenant_id AND purpose = 'wrapping' AND version < :version AND state = 'active'
ORDER BY version FOR UPDATE;

-- name: load_active_tenant_keys
-- More than one active version means that a rotation is under way, or was cut off.
SELECT version, wrapped_key FROM kernel.tenant_keys
WHERE tenant_id = :tenant_id AND purpose = 'wrapping' AND state = 'active' ORDER BY version;

-- name: load_tenant_keys
-- Retired ones too: rows that were restored from a backup may be under one.
SELECT version, wrapped_key FROM kernel.tenant_keys
WHERE tenant_id = :tenant_id AND purpose = 'wrapping' AND version = ANY (:versions::integer[]);

-- name: last_tenant_key_version
-- Retired versions count too: a number is never used twice.
SELECT max(version) FROM kernel.tenant_keys WHERE tenant_id = :tenant_id AND purpose = 'wrapping';

-- name: add_tenant_key
-- The next version; from its commit on it wraps every new data key.
INSERT INTO kernel.tenant_keys (tenant_id, purpose, version, wrapped_key, master_key_id)
VALUES (:tenant_id, 'wrapping', :version, :wrapped_key, :master_key_id);

-- name: count_data_keys_below
-- How much there is to do, for the progress bar; by index, within one tenant.
SELECT count(*) FROM kernel.data_keys
WHERE tenant_id = :tenant_id AND tenant_key_version < :version AND destroyed_at IS NULL;

-- name: load_data_keys_below
-- The next chunk. No lock: whoever destroys a key meanwhile wins, because `rewrap_data_keys` compares.
SELECT subject_id, version, wrapped_key, tenant_key_version FROM kernel.data_keys
WHERE tenant_id = :tenant_id AND tenant_key_version < :version AND destroyed_at IS NULL
LIMIT :chunk;

-- name: rewrap_data_keys
-- Replaces only what is still as it was read; a row that changed meanwhile comes with the next chunk. Rows are found by
-- primary key first and then by their place, because a join by key without statistics compared all pairs.
UPDATE kernel.data_keys AS mine SET wrapped_key = new.wrapped_key, tenant_key_version = :tenant_key_version
FROM (
    SELECT found.place, given.wrapped_key
    FROM unnest(:subject_ids::text[], :versions::integer[], :old_keys::bytea[], :new_keys::bytea[])
        AS given (subject_id, version, old_key, wrapped_key)
    CROSS JOIN LATERAL (
        SELECT stored.ctid AS place
        FROM kernel.data_keys AS stored
        WHERE stored.tenant_id = :tenant_id AND stored.subject_id = given.subject_id
          AND stored.version = given.version AND stored.wrapped_key = given.old_key
        OFFSET 0
    ) AS found
) AS new
WHERE mine.ctid = new.place AND mine.destroyed_at IS NULL;

-- name: retire_tenant_keys
-- Only after `lock_old_tenant_keys` in the same transaction: this statement sees what those made whom it waited for.
UPDATE kernel.tenant_keys AS mine SET state = 'retired', retired_at = now()
WHERE tenant_id = :tenant_id AND purpose = 'wrapping' AND version < :version AND state = 'active'
  AND NOT EXISTS (SELECT FROM kernel.data_keys AS used
                  WHERE used.tenant_id = mine.tenant_id AND used.tenant_key_version = mine.version
                    AND used.destroyed_at IS NULL);

-- name: load_tenant_keys_of_other_masters
-- The platform's view over all tenants, in the order of the primary key.
SELECT tenant_id, purpose, version, wrapped_key FROM kernel.tenant_keys
WHERE master_key_id <> :master_key_id ORDER BY tenant_id, purpose, version LIMIT :chunk;

-- name: rewrap_tenant_keys
-- Replaces only what is still as it was read.
UPDATE kernel.tenant_keys AS mine SET wrapped_key = new.wrapped_key, master_key_id = new.master_key_id
FROM unnest(:tenant_ids::text[], :purposes::text[], :versions::integer[], :old_keys::bytea[], :new_keys::bytea[],
            :master_key_ids::text[])
    AS new (tenant_id, purpose, version, old_key, wrapped_key, master_key_id)
WHERE mine.tenant_id = new.tenant_id AND mine.purpose = new.purpose AND mine.version = new.version
  AND mine.wrapped_key = new.old_key;

-- name: load_platform_keys_of_other_masters
-- There are few: all at once.
SELECT purpose, version, wrapped_key FROM kernel.platform_keys
WHERE master_key_id <> :master_key_id ORDER BY purpose, version LIMIT :chunk;

-- name: rewrap_platform_keys
-- Replaces only what is still as it was read.
UPDATE kernel.platform_keys AS mine SET wrapped_key = new.wrapped_key, master_key_id = new.master_key_id
FROM unnest(:purposes::text[], :versions::integer[], :old_keys::bytea[], :new_keys::bytea[], :master_key_ids::text[])
    AS new (purpose, version, old_key, wrapped_key, master_key_id)
WHERE mine.purpose = new.purpose AND mine.version = new.version AND mine.wrapped_key = new.old_key;
