-- Emergency only: undoes 0038_pre_callbacks. Hooks answer to nobody until it is applied again; no row is lost.
DROP INDEX IF EXISTS chan.ix_webhook_inbound_refused;
DROP INDEX IF EXISTS chan.ix_webhook_inbound_events_dead;
DROP INDEX IF EXISTS chan.ix_webhook_inbound_events_late;
CALL kernel.open_to_worker('chan.webhook_inbound_events',
    'SELECT (id, received_at, tenant_id, webhook_inbound_id, vendor, adapter, vendor_message_id, type, status, attempt_id, '
    'correlate_attempts, next_correlate_at, updated_at), UPDATE (status, correlate_attempts, next_correlate_at, updated_at)');
CALL kernel.open_to_platform('chan.webhook_inbound_events',
    'SELECT, INSERT, UPDATE (tenant_id, payload_ciphertext, status, attempt_id, applied_at, updated_at)');
CALL kernel.set_policy('chan.webhook_inbound_events', 'platform_access',
    $q$FOR ALL TO tidings_platform
    USING (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant_id', true), ''))
    WITH CHECK (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant_id', true), ''))$q$);
COMMENT ON COLUMN chan.webhook_inbound.tenant_id IS 'Null until known: a shared vendor account serves many tenants.';
COMMENT ON COLUMN chan.webhook_inbound.raw_body_ref IS 'Encrypted object, under a platform key until correlated.';
COMMENT ON COLUMN chan.webhook_inbound_events.next_correlate_at IS NULL;
COMMENT ON COLUMN chan.webhook_inbound_events.payload_ciphertext IS
    'Under a platform key until correlated, then under the recipient''s.';
COMMENT ON COLUMN chan.webhook_inbound_events.type IS NULL;
DROP POLICY IF EXISTS worker_claims ON chan.channel_adapter_configs;
REVOKE ALL ON chan.channel_adapter_configs FROM tidings_worker;
