-- Emergency only: undoes 0042_pre_effects. Counted soft bounces, and bounces that wait for an outcome, are lost.
DROP INDEX IF EXISTS notification.ix_suppressions_released;
DROP TABLE IF EXISTS notification.early_bounces;
DROP TABLE IF EXISTS notification.soft_bounces;
COMMENT ON COLUMN notification.counters.name IS 'accepted, or a status.';
COMMENT ON COLUMN notification.delivery_attempts.attempt_number IS NULL;
