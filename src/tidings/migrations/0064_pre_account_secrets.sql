-- tidings: oldest-release=0.1.0
-- Secrets of vendor accounts that were entered over the API, so that a tenant needs nobody who can put a file on the server's disk.

CREATE TABLE IF NOT EXISTS chan.account_secrets (
    tenant_id  TEXT COLLATE "C",
    name       TEXT COLLATE "C" NOT NULL,
    box        BYTEA NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    updated_by TEXT NOT NULL,
    CONSTRAINT uq_account_secrets_name UNIQUE NULLS NOT DISTINCT (tenant_id, name),
    CONSTRAINT ck_account_secrets_name CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
    CONSTRAINT ck_account_secrets_box CHECK (length(box) <= 70000)
);
COMMENT ON TABLE chan.account_secrets IS
    'Settings and credentials of vendor accounts that were entered over the API; accounts name them as sealed://name. tenant_id null: the platform''s.';
COMMENT ON COLUMN chan.account_secrets.name IS 'Not personal: what the owner calls the secret, such as smtp.';
COMMENT ON COLUMN chan.account_secrets.box IS
    'Sealed under a key of its own of the tenant''s (subject secret/name), or under the platform key account_secrets.';
COMMENT ON COLUMN chan.account_secrets.updated_by IS 'The actor: an API key or an operator, never a person''s address.';
CALL kernel.protect_tenant_table('chan.account_secrets', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_platform('chan.account_secrets', 'SELECT, INSERT, UPDATE, DELETE', true);

CALL kernel.assert_protected();
