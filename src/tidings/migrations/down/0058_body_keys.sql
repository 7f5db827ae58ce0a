-- Emergency only: undoes 0058_pre_body_keys. Raw bodies of callbacks that were kept since can't be read any more.
DROP TABLE IF EXISTS chan.erased_executions;
CALL kernel.open_to_worker('chan.webhook_inbound',
    'SELECT (id, received_at, tenant_id, vendor, adapter, status, updated_at), UPDATE (status, updated_at)');
ALTER TABLE chan.webhook_inbound DROP COLUMN IF EXISTS body_key;
