-- tidings: oldest-release=0.1.0
-- A lock action is asked for once, whatever happens to the process that asked: its Idempotency-Key gets its answer when the
-- end is known. Exports read acknowledgements across tenants again.
-- squawk-ignore-file ban-drop-column

ALTER TABLE bff_backoffice.lock_actions ADD COLUMN IF NOT EXISTS key_scope TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE bff_backoffice.lock_actions ADD COLUMN IF NOT EXISTS idempotency_key TEXT COLLATE "C" NOT NULL DEFAULT '';
COMMENT ON COLUMN bff_backoffice.lock_actions.id IS 'The id of the row that the audit gets, and the Idempotency-Key by which the lock service knows the request again.';
COMMENT ON COLUMN bff_backoffice.lock_actions.key_scope IS 'Operator, device and operation: what the caller''s own key is unique within.';
COMMENT ON COLUMN bff_backoffice.lock_actions.idempotency_key IS 'The caller''s own.';
ALTER TABLE bff_backoffice.lock_actions DROP COLUMN IF EXISTS upstream_request_id;
COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.upstream_request_id IS
    'As the lock service calls the request in its logs; the id of the first row where it never answered.';

CALL kernel.open_to_worker('bff_backoffice.alert_ack_log',
    'SELECT (tenant_id, alert_id, acknowledged_by, acknowledged_at, withdrawn_at), DELETE');

CALL kernel.assert_protected();
