-- tidings: oldest-release=0.1.0
-- Outcomes and receipts of several tenants are applied in one transaction, with what they say of addresses.

CALL kernel.open_to_sets('notification.soft_bounces');
CALL kernel.open_to_sets('notification.suppression_counts');
-- A suppression has an entry in its tenant's audit trail.
CALL kernel.open_to_sets('notification.audit');
CALL kernel.open_to_sets('notification.audit_heads');

CALL kernel.assert_protected();
