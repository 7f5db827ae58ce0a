-- part: columns
d.tenant_id, d.id, d.device_id, d.property_id, d.operator_id, d.status, d.last_heartbeat_at, d.last_sync_handshake_at, d.last_pull_cursor,
d.last_push_ack, d.cursor_version, d.app_version, d.app_platform, d.installer_channel, d.network_profile,
CAST(d.pending_hints AS text) AS pending_hints, d.offline_since,
EXISTS (SELECT FROM bff_backoffice.sessions AS s
        WHERE s.tenant_id = d.tenant_id AND s.device_id = d.device_id AND s.ended_at IS NULL AND s.expires_at > :now) AS is_signed_in

-- name: lock_device
-- Before it is changed, so that an outage that is noticed at this moment is seen.
SELECT {columns} FROM bff_backoffice.device_sync_status AS d
WHERE d.tenant_id = :tenant_id AND d.device_id = :device_id
FOR UPDATE OF d;

-- name: find_device
-- One, as it is.
SELECT {columns} FROM bff_backoffice.device_sync_status AS d WHERE d.tenant_id = :tenant_id AND d.device_id = :device_id;

-- name: put_device
-- It said something: it is there, and what it left out stays.
INSERT INTO bff_backoffice.device_sync_status AS d (
    tenant_id, id, device_id, property_id, operator_id, last_heartbeat_at, last_sync_handshake_at, app_version, app_platform,
    installer_channel, network_profile, status, created_at, updated_at
)
VALUES (
    :tenant_id, :id, :device_id, :property_id, :operator_id, :now, CASE WHEN :shakes_hands::boolean THEN :now::timestamptz END,
    :app_version, :app_platform, coalesce(:installer_channel, 'stable'), :network_profile, 'online', :now, :now
)
ON CONFLICT (tenant_id, device_id) DO UPDATE
SET property_id = coalesce(excluded.property_id, d.property_id), operator_id = excluded.operator_id,
    last_heartbeat_at = excluded.last_heartbeat_at,
    last_sync_handshake_at = coalesce(excluded.last_sync_handshake_at, d.last_sync_handshake_at),
    app_version = coalesce(excluded.app_version, d.app_version), app_platform = coalesce(excluded.app_platform, d.app_platform),
    installer_channel = coalesce(:installer_channel, d.installer_channel),
    network_profile = coalesce(excluded.network_profile, d.network_profile),
    status = 'online', offline_since = NULL, updated_at = excluded.updated_at
RETURNING {columns};

-- name: move_cursor
-- From the version that the device knows, and never back to one before: one statement decides between two that ask at once.
UPDATE bff_backoffice.device_sync_status AS d
SET last_pull_cursor = :cursor, cursor_version = d.cursor_version + 1, updated_at = :now
WHERE d.tenant_id = :tenant_id AND d.device_id = :device_id AND d.cursor_version = :version
RETURNING {columns};

-- name: acknowledge_push
-- Never backwards: acknowledgements may overtake each other.
UPDATE bff_backoffice.device_sync_status AS d
SET last_push_ack = greatest(coalesce(d.last_push_ack, '0')::bigint, :ack::bigint)::text, updated_at = :now
WHERE d.tenant_id = :tenant_id AND d.device_id = :device_id
RETURNING {columns};

-- name: list_devices
-- Those of properties that somebody may see, and their own, the newest first.
SELECT {columns}
FROM bff_backoffice.device_sync_status AS d
WHERE d.tenant_id = :tenant_id
  AND (CAST(:status AS text) IS NULL OR d.status = :status)
  AND (CAST(:property_id AS text) IS NULL OR d.property_id = :property_id)
  AND (:sees_all::boolean OR d.property_id = ANY(CAST(:properties AS text[])) OR d.device_id = :own_device)
  AND (CAST(:after_id AS text) IS NULL OR d.id < :after_id)
ORDER BY d.id DESC
LIMIT :limit;

-- name: put_pending_hints
-- What is open now; nothing, where the queue is empty again.
UPDATE bff_backoffice.device_sync_status AS d
SET pending_hints = CAST(:pending_hints AS jsonb), updated_at = :now
WHERE d.tenant_id = :tenant_id AND d.device_id = :device_id
RETURNING {columns};

-- name: insert_hints
-- For those who look later what was queued when.
INSERT INTO bff_backoffice.offline_action_queue_hints (tenant_id, id, device_id, operator_id, reported_at, payload, app_version)
VALUES (:tenant_id, :id, :device_id, :operator_id, :now, :payload, :app_version);

-- name: list_hints
-- What a device said within the last days, the newest first.
SELECT id, device_id, operator_id, reported_at, payload, app_version
FROM bff_backoffice.offline_action_queue_hints
WHERE tenant_id = :tenant_id AND device_id = :device_id AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
ORDER BY id DESC
LIMIT :limit;

-- name: find_tenants_of_silent
-- Whose devices have been silent for too long, across tenants; the worker sees ids and times.
SELECT DISTINCT tenant_id FROM (
    SELECT tenant_id FROM bff_backoffice.device_sync_status
    WHERE status <> 'signed_out' AND last_heartbeat_at <= :before
    ORDER BY last_heartbeat_at LIMIT 10000
) AS silent;

-- name: note_silent
-- Who is signed in on a silent device does not reach us: an outage. Where nobody is, it was put away. Each is noticed once.
WITH silent AS (
    SELECT d.id, d.status AS was, EXISTS (
        SELECT FROM bff_backoffice.sessions AS s
        WHERE s.tenant_id = d.tenant_id AND s.device_id = d.device_id AND s.ended_at IS NULL AND s.expires_at > :now
    ) AS signed_in
    FROM bff_backoffice.device_sync_status AS d
    WHERE d.tenant_id = :tenant_id AND d.status <> 'signed_out' AND d.last_heartbeat_at <= :before
    FOR UPDATE OF d SKIP LOCKED
)
UPDATE bff_backoffice.device_sync_status AS d
SET status = CASE WHEN silent.signed_in THEN 'offline' ELSE 'signed_out' END,
    offline_since = CASE WHEN silent.signed_in THEN :now::timestamptz END, updated_at = :now
FROM silent
WHERE d.tenant_id = :tenant_id AND d.id = silent.id AND NOT (silent.was = 'offline' AND silent.signed_in)
RETURNING silent.was, {columns};

-- name: sweep_hints
-- After a week, across tenants; the worker sees ids and times.
DELETE FROM bff_backoffice.offline_action_queue_hints
WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM bff_backoffice.offline_action_queue_hints WHERE reported_at <= :before ORDER BY reported_at LIMIT :limit
);
