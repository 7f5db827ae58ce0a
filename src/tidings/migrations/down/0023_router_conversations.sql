-- Emergency only: undoes 0023_pre_router_conversations. Rows are lost.

DROP TABLE IF EXISTS chan.conversations;
