-- tidings: oldest-release=0.1.0
-- Ladders that wait for a vendor's circuit are found by what they wait for: whoever closes the circuit, or mends the
-- account, has them looked at again.
ALTER TABLE chan.executions_live ADD COLUMN IF NOT EXISTS waits_for TEXT COLLATE "C";
COMMENT ON COLUMN chan.executions_live.waits_for IS 'circuit_open, while a step of it waits for that; null otherwise.';
GRANT SELECT (waits_for) ON chan.executions_live TO tidings_worker;
-- Nearly always empty.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX IF NOT EXISTS ix_executions_live_waits ON chan.executions_live (due_at)
    WHERE waits_for IS NOT NULL AND claimed_by IS NULL;
