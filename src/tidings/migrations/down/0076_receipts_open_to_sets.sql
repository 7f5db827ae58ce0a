-- Emergency only: undoes 0076_pre_receipts_open_to_sets. Consumers of outcomes and receipts fail after it where a set has several tenants.
DROP POLICY IF EXISTS tenant_sets ON notification.soft_bounces;
DROP POLICY IF EXISTS tenant_sets ON notification.suppression_counts;
DROP POLICY IF EXISTS tenant_sets ON notification.audit;
DROP POLICY IF EXISTS tenant_sets ON notification.audit_heads;
