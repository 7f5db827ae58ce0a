-- Emergency only: undoes 0022_pre_router_executions. Rows are lost.

DELETE FROM kernel.partitioned_tables WHERE parent IN (
    'chan.fallback_executions',
    'chan.delivery_attempts',
    'chan.delivery_attempt_events'
);
DROP TABLE IF EXISTS chan.delivery_attempt_events;
DROP TABLE IF EXISTS chan.delivery_attempts;
DROP TABLE IF EXISTS chan.fallback_executions;
DROP TABLE IF EXISTS chan.executions_live;
