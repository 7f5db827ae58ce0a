-- Emergency only: undoes 0035_pre_imports. What was taken in stays; where each import stood and the counts are lost.
DROP POLICY IF EXISTS owner_counts ON notification.suppressions;
DROP POLICY IF EXISTS owner_lists_tenants ON notification.tenants_local;
DROP TRIGGER IF EXISTS count_added ON notification.suppressions;
DROP TRIGGER IF EXISTS count_changed ON notification.suppressions;
DROP FUNCTION IF EXISTS notification.count_suppressions();
DROP POLICY IF EXISTS worker_claims ON notification.suppressions;
REVOKE ALL ON notification.suppressions FROM tidings_worker;
DROP INDEX IF EXISTS notification.ix_suppressions_expiring;
DROP TABLE IF EXISTS notification.suppression_counts;
ALTER TABLE notification.suppressions DROP COLUMN IF EXISTS occurred_at;
DROP TABLE IF EXISTS notification.import_seen;
DROP TABLE IF EXISTS notification.import_problems;
DROP TABLE IF EXISTS notification.imports;
