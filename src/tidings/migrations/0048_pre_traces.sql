-- tidings: oldest-release=0.1.0
-- The trace that a notification comes from travels with it: from the request that ordered it to the vendor and back.

ALTER TABLE notification.notifications ADD COLUMN IF NOT EXISTS traceparent TEXT COLLATE "C";
COMMENT ON COLUMN notification.notifications.traceparent IS
    'W3C: the trace and span of the request that ordered it.';

ALTER TABLE chan.executions_live ADD COLUMN IF NOT EXISTS traceparent TEXT COLLATE "C";
COMMENT ON COLUMN chan.executions_live.traceparent IS 'As handed over; its trace_id goes into the history.';
COMMENT ON COLUMN chan.executions_live.trace_id IS 'The trace of the request that ordered the notification.';
COMMENT ON COLUMN chan.fallback_executions.trace_id IS 'The trace of the request that ordered the notification.';
