-- Emergency only: undoes 0071_pre_ledgers_open_to_sets. Groups that apply events of several tenants at once fail after it.
DROP POLICY IF EXISTS tenant_sets ON notification.consumed_events;
DROP POLICY IF EXISTS tenant_sets ON chan.consumed_events;
