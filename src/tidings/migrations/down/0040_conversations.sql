-- Emergency only: undoes 0040_pre_conversations. Transcripts and what waits are lost; what was erased or is a default route is removed.
COMMENT ON COLUMN notification.suppressions.occurred_at IS
    'When another service suppressed it, by its list; null: when it was added here.';
ALTER TABLE notification.notifications DROP COLUMN IF EXISTS pinned;
-- Security stays on; for what has to be removed the owner gets a policy, and loses it in the same transaction.
DROP TABLE IF EXISTS chan.inbound_deliveries;
DROP TABLE IF EXISTS chan.conversation_messages;
DROP TABLE IF EXISTS chan.inbound_unmatched;
DROP TABLE IF EXISTS chan.inbound_messages;
COMMENT ON COLUMN chan.webhook_inbound_dedup.type IS NULL;
CALL kernel.set_policy('chan.webhook_inbound_dedup', 'owner_undoes', 'FOR ALL TO tidings_owner USING (true) WITH CHECK (true)');
DELETE FROM chan.webhook_inbound_dedup WHERE event_id LIKE 'mo\_%';
DROP POLICY owner_undoes ON chan.webhook_inbound_dedup;
ALTER TABLE chan.webhook_inbound_dedup DROP CONSTRAINT IF EXISTS ck_webhook_inbound_dedup_event_id;
ALTER TABLE chan.webhook_inbound_dedup ADD CONSTRAINT ck_webhook_inbound_dedup_event_id
    CHECK (event_id LIKE 'whe\_%' AND length(event_id) = 30);
DROP INDEX IF EXISTS chan.ux_tenant_inbound_routes_default;
CALL kernel.set_policy('chan.tenant_inbound_routes', 'owner_undoes', 'FOR ALL TO tidings_owner USING (true) WITH CHECK (true)');
DELETE FROM chan.tenant_inbound_routes WHERE inbound IS NULL;
DROP POLICY owner_undoes ON chan.tenant_inbound_routes;
-- Before, a number had one tenant on all accounts: whoever an operator gave it to, or else whoever had it first.
DROP INDEX IF EXISTS chan.ux_tenant_inbound_routes_own;
DROP INDEX IF EXISTS chan.ux_tenant_inbound_routes_shared;
CALL kernel.set_policy('chan.tenant_inbound_routes', 'owner_undoes', 'FOR ALL TO tidings_owner USING (true) WITH CHECK (true)');
UPDATE chan.tenant_inbound_routes AS route SET active = false
FROM (
    SELECT id, row_number() OVER (PARTITION BY inbound ORDER BY platform DESC, id) AS place
    FROM chan.tenant_inbound_routes WHERE active
) AS ranked
WHERE route.id = ranked.id AND ranked.place > 1;
DROP POLICY owner_undoes ON chan.tenant_inbound_routes;
CREATE UNIQUE INDEX IF NOT EXISTS ux_tenant_inbound_routes_inbound ON chan.tenant_inbound_routes (inbound) WHERE active;
COMMENT ON INDEX chan.ux_tenant_inbound_routes_inbound IS
    'Across tenants: the answer to a violation must not say who has the number, nor differ from "not yours to route".';
ALTER TABLE chan.tenant_inbound_routes ALTER COLUMN inbound SET NOT NULL;
ALTER TABLE chan.tenant_inbound_routes DROP COLUMN IF EXISTS platform;
COMMENT ON COLUMN chan.tenant_inbound_routes.inbound IS NULL;
COMMENT ON COLUMN chan.tenant_inbound_routes.grace_period_ends_at IS NULL;
CALL kernel.open_to_worker('chan.tenant_inbound_routes', 'SELECT (tenant_id, id, inbound, active, grace_period_ends_at)');
DROP INDEX IF EXISTS chan.ix_conversations_closed;
DROP INDEX IF EXISTS chan.ix_conversations_recipient;
DROP INDEX IF EXISTS chan.ix_conversations_platform;
CALL kernel.set_policy('chan.conversations', 'owner_undoes', 'FOR ALL TO tidings_owner USING (true) WITH CHECK (true)');
DELETE FROM chan.conversations WHERE address_hash IS NULL;
DROP POLICY owner_undoes ON chan.conversations;
ALTER TABLE chan.conversations ALTER COLUMN address_hash SET NOT NULL;
ALTER TABLE chan.conversations
    DROP COLUMN IF EXISTS platform_hash,
    DROP COLUMN IF EXISTS vendor,
    DROP COLUMN IF EXISTS account_id,
    DROP COLUMN IF EXISTS use_case,
    DROP COLUMN IF EXISTS opened_by,
    DROP COLUMN IF EXISTS ttl_seconds,
    DROP COLUMN IF EXISTS last_mo_at,
    DROP COLUMN IF EXISTS last_mt_at,
    DROP COLUMN IF EXISTS key_subject,
    DROP COLUMN IF EXISTS address_ciphertext;
CALL kernel.open_to_worker('chan.conversations', 'SELECT (tenant_id, id, status, expires_at, closed_at), DELETE');
