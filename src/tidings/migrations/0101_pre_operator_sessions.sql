-- tidings: oldest-release=0.1.0
-- Sessions of operators, each bound to one device, and the proofs of a second factor that single actions need.
-- They are in Postgres, so that a cache that is lost signs nobody out and lets nobody back in.

CREATE TABLE IF NOT EXISTS bff_backoffice.devices (
    id           TEXT COLLATE "C" NOT NULL,
    tenant_id    TEXT COLLATE "C",
    secret_hash  TEXT COLLATE "C" NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_devices PRIMARY KEY (id),
    CONSTRAINT ck_devices_id CHECK (id ~ '^dvc_[0-9A-HJKMNP-TV-Z]{26}$')
);
CREATE INDEX IF NOT EXISTS ix_devices_last_used ON bff_backoffice.devices (last_used_at);
COMMENT ON TABLE bff_backoffice.devices IS 'Browsers that operators have signed in from. tenant_id null: of operators of the platform.';
COMMENT ON COLUMN bff_backoffice.devices.secret_hash IS 'Of the secret in the device''s own cookie, under the back office''s pepper.';
COMMENT ON COLUMN bff_backoffice.devices.last_used_at IS 'When somebody signed in from it last.';
-- What operators do to their own sessions is no right of a role: viewers sign in and out too.
CALL kernel.protect_tenant_table('bff_backoffice.devices', 'SELECT, INSERT, UPDATE', true);
-- Cookies are looked up before their tenant is known; the platform writes its own rows alone.
CALL kernel.open_to_platform('bff_backoffice.devices', 'SELECT, INSERT, UPDATE', true);
CALL kernel.set_policy('bff_backoffice.devices', 'platform_looks_up', 'FOR SELECT TO tidings_platform USING (true)');
CALL kernel.open_to_worker('bff_backoffice.devices', 'SELECT (tenant_id, id, last_used_at), DELETE');

CREATE TABLE IF NOT EXISTS bff_backoffice.sessions (
    id               TEXT COLLATE "C" NOT NULL,
    tenant_id        TEXT COLLATE "C",
    operator_id      TEXT COLLATE "C" NOT NULL,
    device_id        TEXT COLLATE "C" NOT NULL,
    token_hash       TEXT COLLATE "C" NOT NULL,
    ip_hash          TEXT COLLATE "C",
    fingerprint_hash TEXT COLLATE "C",
    opened_at        TIMESTAMPTZ NOT NULL,
    expires_at       TIMESTAMPTZ NOT NULL,
    ended_at         TIMESTAMPTZ,
    ended_reason     TEXT COLLATE "C",
    CONSTRAINT pk_sessions PRIMARY KEY (id),
    CONSTRAINT fk_sessions_operator FOREIGN KEY (operator_id) REFERENCES bff_backoffice.operators (id),
    CONSTRAINT ck_sessions_id CHECK (id ~ '^bos_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_sessions_ended CHECK ((ended_at IS NULL) = (ended_reason IS NULL)),
    CONSTRAINT ck_sessions_reason CHECK (ended_reason IN
        ('signed_out', 'revoked', 'forced_out', 'replaced', 'other_device', 'operator_changed'))
);
CREATE INDEX IF NOT EXISTS ix_sessions_operator ON bff_backoffice.sessions (tenant_id, operator_id, id);
CREATE UNIQUE INDEX IF NOT EXISTS ux_sessions_device ON bff_backoffice.sessions (tenant_id, device_id) NULLS NOT DISTINCT
    WHERE ended_at IS NULL;
CREATE INDEX IF NOT EXISTS ix_sessions_expiry ON bff_backoffice.sessions (expires_at);
COMMENT ON TABLE bff_backoffice.sessions IS 'Sessions of operators: 12 hours, one for each device. tenant_id null: of operators of the platform.';
COMMENT ON COLUMN bff_backoffice.sessions.token_hash IS
    'Of the secret in the session''s cookie together with id, tenant, operator, device and end, under the back office''s pepper.';
COMMENT ON COLUMN bff_backoffice.sessions.ip_hash IS 'Peppered; the raw address is not kept.';
COMMENT ON COLUMN bff_backoffice.sessions.fingerprint_hash IS 'Of what the browser calls itself, peppered.';
COMMENT ON COLUMN bff_backoffice.sessions.ended_reason IS
    'replaced: a new sign-in on the device; other_device: the token came with another device''s secret, or none; operator_changed: disabled, reset or erased.';
CALL kernel.protect_tenant_table('bff_backoffice.sessions', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_platform('bff_backoffice.sessions', 'SELECT, INSERT, UPDATE', true);
CALL kernel.set_policy('bff_backoffice.sessions', 'platform_looks_up', 'FOR SELECT TO tidings_platform USING (true)');
CALL kernel.open_to_worker('bff_backoffice.sessions', 'SELECT (tenant_id, id, expires_at), DELETE');
DROP TRIGGER IF EXISTS announce_change ON bff_backoffice.sessions;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON bff_backoffice.sessions
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('id');

CREATE TABLE IF NOT EXISTS bff_backoffice.attestations (
    id          TEXT COLLATE "C" NOT NULL,
    tenant_id   TEXT COLLATE "C",
    operator_id TEXT COLLATE "C" NOT NULL,
    session_id  TEXT COLLATE "C" NOT NULL,
    device_id   TEXT COLLATE "C" NOT NULL,
    action      TEXT COLLATE "C" NOT NULL,
    issued_at   TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL,
    used_at     TIMESTAMPTZ,
    CONSTRAINT pk_attestations PRIMARY KEY (id),
    CONSTRAINT ck_attestations_id CHECK (id ~ '^mfa_[0-9A-HJKMNP-TV-Z]{26}$')
);
CREATE INDEX IF NOT EXISTS ix_attestations_expiry ON bff_backoffice.attestations (expires_at);
COMMENT ON TABLE bff_backoffice.attestations IS 'Proofs of a second factor: each for one action of one operator in one session on one device, once, within five minutes.';
CALL kernel.protect_tenant_table('bff_backoffice.attestations', 'SELECT, INSERT, UPDATE (used_at)', true);
CALL kernel.open_to_platform('bff_backoffice.attestations', 'SELECT, INSERT, UPDATE (used_at)', true);
CALL kernel.open_to_worker('bff_backoffice.attestations', 'SELECT (tenant_id, id, expires_at), DELETE');

CALL kernel.assert_protected();
