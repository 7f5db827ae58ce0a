-- Emergency only: undoes 0025_pre_router_outbox_inbox. Rows are lost.

DROP TABLE IF EXISTS chan.consumed_events;
DROP TABLE IF EXISTS chan.delivery_inbox;
DROP TABLE IF EXISTS chan.delivery_outbox;
DROP TABLE IF EXISTS chan.outbox;
