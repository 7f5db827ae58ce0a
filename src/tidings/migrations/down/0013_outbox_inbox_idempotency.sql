-- Emergency only: undoes 0013_pre_outbox_inbox_idempotency. Rows are lost.

DROP TABLE IF EXISTS notification.dedup_ledger;
DROP TABLE IF EXISTS notification.idempotency_keys;
DROP TABLE IF EXISTS notification.consumed_events;
DROP TABLE IF EXISTS notification.outbox;
