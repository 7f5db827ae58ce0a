-- tidings: oldest-release=0.1.0
-- Raw bodies of callbacks that are about somebody who was erased are destroyed at once: every body has a key of its own in
-- its row, and without it nobody can read that body, while its neighbours in the same object stay readable.

ALTER TABLE chan.webhook_inbound ADD COLUMN IF NOT EXISTS body_key BYTEA;
COMMENT ON COLUMN chan.webhook_inbound.body_key IS
    'Seals this body alone, inside its object. Null: a person it is about was erased, or all that it said was known before.';
-- The worker destroys keys and can't read them.
CALL kernel.open_to_worker('chan.webhook_inbound',
    'SELECT (id, received_at, tenant_id, vendor, adapter, status, updated_at), UPDATE (status, updated_at, body_key)');

CREATE TABLE IF NOT EXISTS chan.erased_executions (
    tenant_id    TEXT COLLATE "C" NOT NULL,
    execution_id TEXT COLLATE "C" NOT NULL,
    erased_at    TIMESTAMPTZ NOT NULL,
    pending      BOOLEAN NOT NULL DEFAULT true,
    CONSTRAINT pk_erased_executions PRIMARY KEY (tenant_id, execution_id),
    CONSTRAINT ck_erased_executions_id CHECK (execution_id LIKE 'exec\_%' AND length(execution_id) = 31)
);
CREATE INDEX IF NOT EXISTS ix_erased_executions_pending ON chan.erased_executions (erased_at) WHERE pending;
CREATE INDEX IF NOT EXISTS ix_erased_executions_age ON chan.erased_executions (erased_at);
COMMENT ON TABLE chan.erased_executions IS
    'Ladders to people who were erased: no raw body of a callback about them is kept. Swept when no callback can find them.';
COMMENT ON COLUMN chan.erased_executions.pending IS 'The bodies that had come before the erasure are still to be destroyed.';
CALL kernel.protect_tenant_table('chan.erased_executions', 'SELECT, INSERT');
CALL kernel.open_to_worker('chan.erased_executions',
    'SELECT (tenant_id, execution_id, erased_at, pending), UPDATE (pending), DELETE');

CALL kernel.assert_protected();
