-- Emergency only: undoes 0020_pre_router_profiles. Rows are lost.

DROP TABLE IF EXISTS chan.recipient_profiles;
