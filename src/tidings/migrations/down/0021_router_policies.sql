-- Emergency only: undoes 0021_pre_router_policies. Rows are lost.

DROP TABLE IF EXISTS chan.fallback_policy_versions;
DROP TABLE IF EXISTS chan.fallback_policies;
