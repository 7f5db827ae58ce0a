-- Emergency only: undoes 0060_pre_waiting_for_circuits.
DROP INDEX IF EXISTS chan.ix_executions_live_waits;
ALTER TABLE chan.executions_live DROP COLUMN IF EXISTS waits_for;
