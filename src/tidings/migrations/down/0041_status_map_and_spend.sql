-- Emergency only: undoes 0041_pre_status_map_and_spend. What was spent, and which codes have no meaning, is forgotten.
DROP TABLE IF EXISTS chan.spend_daily;
COMMENT ON COLUMN chan.delivery_attempt_events.provider_code IS NULL;
DROP INDEX IF EXISTS chan.ix_delivery_attempt_events_code;
COMMENT ON COLUMN chan.delivery_attempts.execution_id IS NULL;
COMMENT ON COLUMN chan.delivery_attempts.reason IS NULL;
ALTER TABLE chan.delivery_attempts DROP COLUMN IF EXISTS meaning;
DROP TABLE IF EXISTS chan.unknown_provider_codes;
DROP INDEX IF EXISTS chan.ix_adapter_status_map_code;
