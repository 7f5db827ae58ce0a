-- tidings: oldest-release=0.1.0
-- Devices say that they are there, keep their place, and may bind their session to a key that never leaves them.
-- squawk-ignore-file constraint-missing-not-valid, ban-drop-constraint, require-concurrent-index-creation

ALTER TABLE bff_backoffice.device_sync_status
    ADD COLUMN IF NOT EXISTS offline_since TIMESTAMPTZ,
    DROP CONSTRAINT IF EXISTS ck_device_sync_status_status,
    ADD CONSTRAINT ck_device_sync_status_status CHECK (status IN ('online', 'offline', 'signed_out')),
    DROP CONSTRAINT IF EXISTS ck_device_sync_status_version,
    ADD CONSTRAINT ck_device_sync_status_version CHECK (cursor_version >= 0);
CREATE INDEX IF NOT EXISTS ix_device_sync_status_present
    ON bff_backoffice.device_sync_status (last_heartbeat_at) WHERE status <> 'signed_out';
COMMENT ON COLUMN bff_backoffice.device_sync_status.status IS
    'offline: its operator is signed in, and it has been silent for five minutes; signed_out: silent, and nobody is signed in on it.';
COMMENT ON COLUMN bff_backoffice.device_sync_status.offline_since IS 'When the outage was noticed; null: there is none.';
COMMENT ON COLUMN bff_backoffice.device_sync_status.last_pull_cursor IS 'How far the device has pulled, in its own words.';
COMMENT ON COLUMN bff_backoffice.device_sync_status.last_push_ack IS 'The last announcement of its stream that it has dealt with.';
COMMENT ON COLUMN bff_backoffice.device_sync_status.cursor_version IS 'Grows with every change of the cursor; a change names the one it is made from.';
COMMENT ON COLUMN bff_backoffice.device_sync_status.pending_hints IS 'What it said last that it has queued while offline: kinds, counts and ids.';
CREATE TABLE IF NOT EXISTS bff_backoffice.device_keys (
    tenant_id     TEXT COLLATE "C",
    session_id    TEXT COLLATE "C" NOT NULL,
    device_id     TEXT COLLATE "C" NOT NULL,
    public_key    TEXT COLLATE "C" NOT NULL,
    key_hash      TEXT COLLATE "C" NOT NULL,
    registered_at TIMESTAMPTZ NOT NULL,
    expires_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_device_keys PRIMARY KEY (session_id)
);
CREATE INDEX IF NOT EXISTS ix_device_keys_expiry ON bff_backoffice.device_keys (expires_at);
COMMENT ON TABLE bff_backoffice.device_keys IS 'Public keys of devices: each request of the session is signed with the private one, which never leaves the device. tenant_id null: of operators of the platform.';
COMMENT ON COLUMN bff_backoffice.device_keys.public_key IS 'Of P-256, as x and y in base64url with a dot between.';
COMMENT ON COLUMN bff_backoffice.device_keys.key_hash IS 'Proof that the application wrote it: session, device and key under the back office''s pepper.';
-- Written without the caller's role: what a device says of itself is no right of one.
CALL kernel.protect_tenant_table('bff_backoffice.device_keys', 'SELECT, INSERT');
CALL kernel.open_to_platform('bff_backoffice.device_keys', 'SELECT, INSERT', true);
CALL kernel.set_policy('bff_backoffice.device_keys', 'platform_looks_up', 'FOR SELECT TO tidings_platform USING (true)');
CALL kernel.open_to_worker('bff_backoffice.device_keys', 'SELECT (tenant_id, session_id, expires_at), DELETE');
DROP TRIGGER IF EXISTS announce_change ON bff_backoffice.device_keys;
CREATE TRIGGER announce_change AFTER INSERT OR DELETE ON bff_backoffice.device_keys
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('session_id');

CREATE TABLE IF NOT EXISTS bff_backoffice.device_proofs (
    tenant_id  TEXT COLLATE "C",
    session_id TEXT COLLATE "C" NOT NULL,
    jti        TEXT COLLATE "C" NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_device_proofs PRIMARY KEY (session_id, jti)
);
CREATE INDEX IF NOT EXISTS ix_device_proofs_expiry ON bff_backoffice.device_proofs (expires_at);
COMMENT ON TABLE bff_backoffice.device_proofs IS 'Proofs of requests that were used: each works once. Kept until their time is over.';
CALL kernel.protect_tenant_table('bff_backoffice.device_proofs', 'SELECT, INSERT');
CALL kernel.open_to_platform('bff_backoffice.device_proofs', 'SELECT, INSERT', true);
CALL kernel.open_to_worker('bff_backoffice.device_proofs', 'SELECT (tenant_id, session_id, jti, expires_at), DELETE');
CALL kernel.store_as_ledger('bff_backoffice.device_proofs');

CALL kernel.assert_protected();
