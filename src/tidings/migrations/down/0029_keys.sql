-- Emergency only. Dropping these tables makes every encrypted column and object unreadable for good.
DROP TABLE IF EXISTS kernel.platform_keys;
DROP TABLE IF EXISTS kernel.data_keys;
DROP TABLE IF EXISTS kernel.tenant_keys;
