-- Emergency only: undoes 0069_router_sets_of_tenants. A router that works on executions of several tenants at once sees none after it.
DROP POLICY IF EXISTS tenant_sets ON chan.executions_live;
DROP POLICY IF EXISTS tenant_sets ON chan.fallback_executions;
DROP POLICY IF EXISTS tenant_sets ON chan.delivery_attempts;
DROP POLICY IF EXISTS tenant_sets ON chan.delivery_attempt_events;
DROP POLICY IF EXISTS tenant_sets ON chan.delivery_outbox;
DROP POLICY IF EXISTS tenant_sets ON chan.outbox;
DROP POLICY IF EXISTS tenant_sets ON chan.spend_daily;
DROP POLICY IF EXISTS tenant_sets ON chan.conversations;
DROP POLICY IF EXISTS tenant_sets ON chan.conversation_messages;
DROP POLICY IF EXISTS tenant_sets ON chan.shared_number_contacts;
DROP POLICY IF EXISTS tenant_sets ON chan.fallback_policies;
DROP POLICY IF EXISTS tenant_sets ON chan.channel_adapter_configs;
