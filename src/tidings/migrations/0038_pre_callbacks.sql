-- Callbacks are taken in and applied: a hook is found by its account's id, an event that found its attempt is handed to
-- its tenant, one that did not waits for its next look.

-- A hook is called with an account's id and nothing else. Whose it is says the worker role; the reference to its secret is
-- then read as its owner.
CALL kernel.open_to_worker('chan.channel_adapter_configs', 'SELECT (id, tenant_id, provider, active)');

-- Whose an event is comes out of the attempt that it is about: who finds that writes it down, for a whole set at once.
-- What the event said stands with the attempt then, and what was sealed here is removed without being read.
CALL kernel.open_to_worker('chan.webhook_inbound_events',
    'SELECT (id, received_at, tenant_id, webhook_inbound_id, vendor, adapter, vendor_message_id, type, status, attempt_id, '
    'correlate_attempts, next_correlate_at, updated_at), '
    'UPDATE (tenant_id, status, attempt_id, payload_ciphertext, correlate_attempts, next_correlate_at, applied_at, '
    'updated_at)');
-- Dead letters are given new patience.
CALL kernel.open_to_platform('chan.webhook_inbound_events',
    'SELECT, INSERT, UPDATE (tenant_id, payload_ciphertext, status, attempt_id, correlate_attempts, next_correlate_at, '
    'applied_at, updated_at)');
-- As in 0009: the platform sees what nobody owns yet.
CALL kernel.set_policy('chan.webhook_inbound_events', 'platform_access',
    $q$FOR ALL TO tidings_platform
    USING (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant_id', true), ''))
    WITH CHECK (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant_id', true), ''))$q$);
COMMENT ON COLUMN chan.webhook_inbound_events.type IS 'What it means, in the words of delivery_attempt_events.';
COMMENT ON COLUMN chan.webhook_inbound_events.payload_ciphertext IS
    'Code, reason and cost, under a platform key; removed when they stand with the attempt. Null where it said nothing more.';
COMMENT ON COLUMN chan.webhook_inbound_events.next_correlate_at IS 'When its attempt is looked for again.';
COMMENT ON COLUMN chan.webhook_inbound.tenant_id IS 'Null: one request may speak about several tenants. Its events are theirs.';
COMMENT ON COLUMN chan.webhook_inbound.raw_body_ref IS
    'Object and place in it: <key>#<place>. Bodies of one set share an object under a platform key, kept for some weeks.';

-- Nothing was ever in these tables before this release: these are made at once.
-- Those whose next look is due, without a look at those that wait.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_webhook_inbound_events_late
    ON chan.webhook_inbound_events (next_correlate_at) WHERE status = 'late_correlate';
-- Dead letters, the newest first.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_webhook_inbound_events_dead
    ON chan.webhook_inbound_events (received_at, id) WHERE status = 'dlq';

-- Requests that were refused, or that nobody could read.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_webhook_inbound_refused
    ON chan.webhook_inbound (received_at, id) WHERE status IN ('rejected', 'dlq');

CALL kernel.assert_protected();
