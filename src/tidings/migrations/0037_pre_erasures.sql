-- Who was erased, and the signed receipt that says what was destroyed. The receipt names ids and counts, nothing of the person.

CREATE TABLE IF NOT EXISTS notification.erasures (
    tenant_id    TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    recipient_id TEXT COLLATE "C" NOT NULL,
    erased_at    TIMESTAMPTZ NOT NULL,
    statement    TEXT NOT NULL,
    key_id       TEXT COLLATE "C" NOT NULL,
    signature    BYTEA NOT NULL,
    CONSTRAINT pk_erasures PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_erasures_recipient UNIQUE (tenant_id, recipient_id),
    CONSTRAINT fk_erasures_recipient FOREIGN KEY (tenant_id, recipient_id)
        REFERENCES notification.recipients (tenant_id, id),
    CONSTRAINT ck_erasures_id CHECK (id ~ '^ers_[0-9A-HJKMNP-TV-Z]{26}$')
);
COMMENT ON TABLE notification.erasures IS 'Receipts of erasures: one for each recipient, written once and never changed.';
COMMENT ON COLUMN notification.erasures.statement IS
    'JSON, exactly as it was signed: ids, times and counts. No name, no address, no hash of one.';
COMMENT ON COLUMN notification.erasures.signature IS 'Ed25519 over the statement, with the id of the key in front.';
CALL kernel.protect_tenant_table('notification.erasures', 'SELECT, INSERT');
CALL kernel.make_append_only('notification.erasures');

CALL kernel.assert_protected();
