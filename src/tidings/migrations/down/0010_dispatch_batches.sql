-- Emergency only: undoes 0010_pre_dispatch_batches. Rows are lost.

DROP TABLE IF EXISTS notification.dispatch_batches;
