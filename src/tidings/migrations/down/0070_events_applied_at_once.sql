-- Emergency only: undoes 0070_pre_events_applied_at_once. Outcomes on the bus are then settled a second time, which changes nothing.
DROP POLICY IF EXISTS tenant_sets ON notification.delivery_attempts;
DROP POLICY IF EXISTS tenant_sets ON notification.early_bounces;
ALTER TABLE notification.outbox DROP COLUMN IF EXISTS applied_by;
ALTER TABLE chan.outbox DROP COLUMN IF EXISTS applied_by;
ALTER TABLE bff_backoffice.outbox DROP COLUMN IF EXISTS applied_by;
ALTER TABLE kernel.bus_events DROP COLUMN IF EXISTS applied_by;
CREATE INDEX IF NOT EXISTS ix_delivery_attempts_vendor_message
    ON notification.delivery_attempts (tenant_id, vendor, vendor_message_id) WHERE vendor_message_id IS NOT NULL;
