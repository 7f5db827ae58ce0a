-- Emergency only: undoes 0111_pre_statistics. What was counted is forgotten; the history stays.
DROP TABLE IF EXISTS chan.error_statistics;
DROP TABLE IF EXISTS chan.outcome_statistics;
DROP TABLE IF EXISTS chan.step_statistics;
DROP TABLE IF EXISTS kernel.roll_up_marks;
DROP POLICY IF EXISTS worker_claims ON chan.fallback_executions;
REVOKE ALL ON chan.fallback_executions FROM tidings_worker;
REVOKE SELECT (tenant_id, id, started_at, terminated_at, use_case, final_channel, outcome, fallback_path, recorded_in)
    ON chan.fallback_executions FROM tidings_worker;
DROP INDEX IF EXISTS chan.ix_fallback_executions_recorded;
ALTER TABLE chan.fallback_executions DROP COLUMN IF EXISTS recorded_in;
