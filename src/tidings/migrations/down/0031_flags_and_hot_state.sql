-- Emergency only: every flag falls back to its default and every limit starts anew.
DROP TABLE IF EXISTS kernel.hot_leases;
DROP SEQUENCE IF EXISTS kernel.lease_fences;
DROP TABLE IF EXISTS kernel.hot_presence;
DROP TABLE IF EXISTS kernel.hot_seen;
DROP TABLE IF EXISTS kernel.hot_limits;
DROP TABLE IF EXISTS kernel.feature_flags;
