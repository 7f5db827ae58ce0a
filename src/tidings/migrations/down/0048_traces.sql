-- Emergency only: undoes 0048_pre_traces. Notifications under way lose their trace.
COMMENT ON COLUMN chan.fallback_executions.trace_id IS NULL;
COMMENT ON COLUMN chan.executions_live.trace_id IS NULL;
ALTER TABLE chan.executions_live DROP COLUMN IF EXISTS traceparent;
ALTER TABLE notification.notifications DROP COLUMN IF EXISTS traceparent;
