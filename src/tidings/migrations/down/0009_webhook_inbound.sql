-- Emergency only: undoes 0009_pre_webhook_inbound. Rows are lost.

DROP TABLE IF EXISTS chan.webhook_inbound_dedup;
DROP TABLE IF EXISTS chan.webhook_inbound_events;
DROP TABLE IF EXISTS chan.webhook_inbound;
