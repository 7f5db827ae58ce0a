-- Emergency only: undoes 0001_pre_schema_namespaces. Rows are lost.

-- The schema kernel stays: the migration ledger is in it.
DROP FUNCTION IF EXISTS kernel.announce_outbox;
DROP PROCEDURE IF EXISTS kernel.make_append_only;
DROP FUNCTION IF EXISTS kernel.refuse_change;
DROP PROCEDURE IF EXISTS kernel.seal_partition;
DROP PROCEDURE IF EXISTS kernel.open_to_platform;
DROP PROCEDURE IF EXISTS kernel.open_to_worker;
DROP PROCEDURE IF EXISTS kernel.protect_platform_table;
DROP PROCEDURE IF EXISTS kernel.protect_shared_table;
DROP PROCEDURE IF EXISTS kernel.protect_tenant_table;
DROP PROCEDURE IF EXISTS kernel.narrow_by_caller_role;
DROP PROCEDURE IF EXISTS kernel.protect_service_table;
DROP PROCEDURE IF EXISTS kernel.set_grants;
DROP PROCEDURE IF EXISTS kernel.set_policy;
DROP SCHEMA IF EXISTS bff_backoffice;
DROP SCHEMA IF EXISTS chan;
DROP SCHEMA IF EXISTS notification_platform;
DROP SCHEMA IF EXISTS notification;
