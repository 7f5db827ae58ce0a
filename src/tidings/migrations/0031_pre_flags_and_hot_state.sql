-- Feature flags, and the part of hot state that processes must share while there is no Redis.
-- Hot-state rows of a tenant carry its id; rows without one belong to the platform and no tenant sees them.

CREATE TABLE IF NOT EXISTS kernel.feature_flags (
    key         TEXT COLLATE "C" NOT NULL,
    tenant_id   TEXT COLLATE "C",
    enabled     BOOLEAN NOT NULL,
    percentage  INTEGER,
    reason      TEXT NOT NULL,
    updated_by  TEXT COLLATE "C" NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_feature_flags_key UNIQUE NULLS NOT DISTINCT (tenant_id, key),
    CONSTRAINT ck_feature_flags_key CHECK (key ~ '^[a-z][a-z0-9_.]{1,62}$'),
    CONSTRAINT ck_feature_flags_percentage CHECK (percentage BETWEEN 0 AND 100),
    CONSTRAINT ck_feature_flags_rollout CHECK (percentage IS NULL OR (tenant_id IS NULL AND enabled))
);
ALTER TABLE kernel.feature_flags REPLICA IDENTITY FULL;
COMMENT ON TABLE kernel.feature_flags IS
    'Switches that differ from their declared default. tenant_id null: for everybody; a tenant''s own row wins.';
COMMENT ON COLUMN kernel.feature_flags.percentage IS 'On for this share of the tenants, chosen by a stable hash; null means all.';
CALL kernel.protect_shared_table('kernel.feature_flags', 'SELECT, INSERT, UPDATE, DELETE', 'SELECT, INSERT, UPDATE, DELETE');
-- Every process keeps all switches in memory; they are names and booleans.
CALL kernel.open_to_worker('kernel.feature_flags', 'SELECT');

-- Logged: limits are exact, also after a crash of the server.
CREATE TABLE IF NOT EXISTS kernel.hot_limits (
    tenant_id  TEXT COLLATE "C",
    key        TEXT COLLATE "C" NOT NULL,
    moments    BIGINT[] NOT NULL,
    amounts    BIGINT[] NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_hot_limits_key UNIQUE NULLS NOT DISTINCT (tenant_id, key)
) WITH (fillfactor = 50);
ALTER TABLE kernel.hot_limits REPLICA IDENTITY FULL;
CREATE INDEX IF NOT EXISTS ix_hot_limits_expiry ON kernel.hot_limits (expires_at);
COMMENT ON TABLE kernel.hot_limits IS 'What was taken of each limit, in its present window. The arithmetic is in kernel/limit_windows.py.';
COMMENT ON COLUMN kernel.hot_limits.moments IS 'Microseconds since 1970, each with the amount at its place in amounts.';
CALL kernel.protect_tenant_table('kernel.hot_limits', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_platform('kernel.hot_limits', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_worker('kernel.hot_limits', 'SELECT (tenant_id, key, expires_at), DELETE');

-- Logged: what was seen once must not pass as new after a crash.
CREATE TABLE IF NOT EXISTS kernel.hot_seen (
    tenant_id  TEXT COLLATE "C",
    key        TEXT COLLATE "C" NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_hot_seen_key UNIQUE NULLS NOT DISTINCT (tenant_id, key)
);
ALTER TABLE kernel.hot_seen REPLICA IDENTITY FULL;
CREATE INDEX IF NOT EXISTS ix_hot_seen_expiry ON kernel.hot_seen (expires_at);
COMMENT ON TABLE kernel.hot_seen IS 'Keys that were seen and may not pass again until they expire.';
CALL kernel.protect_tenant_table('kernel.hot_seen', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_platform('kernel.hot_seen', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_worker('kernel.hot_seen', 'SELECT (tenant_id, key, expires_at), DELETE');

-- Unlogged: after a crash everybody connects anew and says so.
CREATE UNLOGGED TABLE IF NOT EXISTS kernel.hot_presence (
    tenant_id  TEXT COLLATE "C",
    key        TEXT COLLATE "C" NOT NULL,
    member     TEXT COLLATE "C" NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_hot_presence_member UNIQUE NULLS NOT DISTINCT (tenant_id, key, member)
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS ix_hot_presence_expiry ON kernel.hot_presence (expires_at);
COMMENT ON TABLE kernel.hot_presence IS 'Who is here: which process holds a connection of which recipient.';
CALL kernel.protect_tenant_table('kernel.hot_presence', 'SELECT, INSERT, UPDATE, DELETE', true);
CALL kernel.open_to_platform('kernel.hot_presence', 'SELECT, INSERT, UPDATE, DELETE', true);
CALL kernel.open_to_worker('kernel.hot_presence', 'SELECT (tenant_id, key, member, expires_at), DELETE');

-- Logged: a forgotten lease would have two holders. Fences only ever rise, across all leases.
CREATE SEQUENCE IF NOT EXISTS kernel.lease_fences AS bigint;
COMMENT ON SEQUENCE kernel.lease_fences IS 'Numbers the holders of leases, so that a late writer can be told from the present one.';
REVOKE ALL ON SEQUENCE kernel.lease_fences FROM PUBLIC;
GRANT USAGE ON SEQUENCE kernel.lease_fences TO tidings_runtime, tidings_platform;

CREATE TABLE IF NOT EXISTS kernel.hot_leases (
    tenant_id  TEXT COLLATE "C",
    key        TEXT COLLATE "C" NOT NULL,
    holder     TEXT COLLATE "C" NOT NULL,
    fence      BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_hot_leases_key UNIQUE NULLS NOT DISTINCT (tenant_id, key)
) WITH (fillfactor = 50);
ALTER TABLE kernel.hot_leases REPLICA IDENTITY FULL;
CREATE INDEX IF NOT EXISTS ix_hot_leases_expiry ON kernel.hot_leases (expires_at);
COMMENT ON TABLE kernel.hot_leases IS 'Who alone may do something, until when.';
CALL kernel.protect_tenant_table('kernel.hot_leases', 'SELECT, INSERT, UPDATE, DELETE', true);
CALL kernel.open_to_platform('kernel.hot_leases', 'SELECT, INSERT, UPDATE, DELETE', true);
CALL kernel.open_to_worker('kernel.hot_leases', 'SELECT (tenant_id, key, expires_at), DELETE');

CALL kernel.assert_protected();
