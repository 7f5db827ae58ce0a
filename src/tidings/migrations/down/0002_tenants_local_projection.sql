-- Emergency only: undoes 0002_pre_tenants_local_projection. Rows are lost.

DROP TABLE IF EXISTS notification.api_keys;
DROP TABLE IF EXISTS notification_platform.categories;
DROP TABLE IF EXISTS notification.tenants_local;
