-- Emergency only: undoes 0032_pre_dispatch_and_counters. What waits for a worker is lost, and so are the counts.
DROP TABLE IF EXISTS notification.counters;
DROP TABLE IF EXISTS kernel.workers;
DROP TABLE IF EXISTS notification.dispatch_queue;
