-- Schemas of the three services and of the shared plumbing, and the procedures that protect a table.
--
-- Roles are cluster-wide and exist before the first migration:
--   tidings_owner       runs migrations, owns everything, is itself under FORCE ROW LEVEL SECURITY
--   tidings_runtime     the application; owns nothing; sees one tenant per transaction
--   tidings_worker      claims and sweeps across tenants on tables that hold ids, never content
--   tidings_platform    rows without a tenant, the tenant projection, key lookup
--   tidings_breakglass  reads everything; reached only by `tidings break-glass --reason …`

CREATE SCHEMA IF NOT EXISTS kernel;
CREATE SCHEMA IF NOT EXISTS notification;
CREATE SCHEMA IF NOT EXISTS notification_platform;
CREATE SCHEMA IF NOT EXISTS chan;
CREATE SCHEMA IF NOT EXISTS bff_backoffice;

COMMENT ON SCHEMA kernel IS 'Shared plumbing: migration ledger, bus, keys, flags, hot state, protection procedures.';
COMMENT ON SCHEMA notification IS 'Notify, rows that belong to a tenant.';
COMMENT ON SCHEMA notification_platform IS 'Notify, rows that belong to the platform: readable by all, written by the platform.';
COMMENT ON SCHEMA chan IS 'Router.';
COMMENT ON SCHEMA bff_backoffice IS 'Back office: ledgers and mirrors, no domain data.';

REVOKE ALL ON SCHEMA kernel, notification, notification_platform, chan, bff_backoffice FROM PUBLIC;
GRANT USAGE ON SCHEMA kernel, notification, notification_platform, chan, bff_backoffice
    TO tidings_runtime, tidings_worker, tidings_platform, tidings_breakglass;

-- Names in SQL are looked up in pg_temp and public too. Nobody but the owner may put anything there.
-- On a database of another owner this only warns, and an administrator has to do it.
DO $$
BEGIN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
END;
$$;

-- One policy, replaced if it is there. Inside a migration's transaction the table is never seen without it.
CREATE OR REPLACE PROCEDURE kernel.set_policy(tbl regclass, policy text, definition text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET client_min_messages = warning
AS $$
BEGIN
    EXECUTE format('DROP POLICY IF EXISTS %I ON %s', policy, tbl);
    EXECUTE format('CREATE POLICY %I ON %s %s', policy, tbl, definition);
END;
$$;
COMMENT ON PROCEDURE kernel.set_policy IS 'Replaces one row-level security policy.';

-- Exactly these privileges for one role, no others. Verbs are GRANT syntax: 'SELECT (id), UPDATE (claimed_until), DELETE'.
CREATE OR REPLACE PROCEDURE kernel.set_grants(tbl regclass, grantee name, verbs text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('REVOKE ALL ON %s FROM %I', tbl, grantee);
    IF verbs <> '' THEN
        EXECUTE format('GRANT %s ON %s TO %I', verbs, tbl, grantee);
    END IF;
END;
$$;
COMMENT ON PROCEDURE kernel.set_grants IS 'Gives one role exactly the named privileges on a table.';

-- What every table of a service gets: nobody may do anything, except break-glass, which may read.
CREATE OR REPLACE PROCEDURE kernel.protect_service_table(tbl text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target regclass := tbl::regclass;
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
    EXECUTE format('REVOKE ALL ON %s FROM PUBLIC, tidings_runtime, tidings_worker, tidings_platform', target);
    CALL kernel.set_grants(target, 'tidings_breakglass', 'SELECT');
    CALL kernel.set_policy(target, 'break_glass', 'FOR SELECT TO tidings_breakglass USING (true)');
END;
$$;
COMMENT ON PROCEDURE kernel.protect_service_table IS 'Forced row-level security, no grants; only break-glass reads.';

-- app.caller_role narrows and never widens: these roles read only. The policy for ALL lets rows be seen
-- (USING true) and refuses to write them; DELETE has no WITH CHECK and needs a policy of its own.
CREATE OR REPLACE PROCEDURE kernel.narrow_by_caller_role(tbl text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target regclass := tbl::regclass;
    may_write CONSTANT text :=
        $q$coalesce(current_setting('app.caller_role', true), '') NOT IN ('tenant.viewer', 'platform.support')$q$;
BEGIN
    CALL kernel.set_policy(target, 'caller_role_writes', format(
        'AS RESTRICTIVE FOR ALL TO tidings_runtime, tidings_platform USING (true) WITH CHECK (%s)', may_write));
    CALL kernel.set_policy(target, 'caller_role_deletes', format(
        'AS RESTRICTIVE FOR DELETE TO tidings_runtime, tidings_platform USING (%s)', may_write));
END;
$$;
COMMENT ON PROCEDURE kernel.narrow_by_caller_role IS 'Read-only caller roles cannot write this table.';

-- A tenant's table. nullif: after a transaction-local setting ends it reads as '', which must match no row.
-- any_role_writes: for tables that record what read-only callers do (an audit row for a support look-up).
CREATE OR REPLACE PROCEDURE kernel.protect_tenant_table(tbl text, verbs text, any_role_writes boolean DEFAULT false)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET client_min_messages = warning
AS $$
DECLARE
    target regclass := tbl::regclass;
    own_rows CONSTANT text := $q$tenant_id = nullif(current_setting('app.tenant_id', true), '')$q$;
BEGIN
    CALL kernel.protect_service_table(tbl);
    CALL kernel.set_policy(target, 'tenant_isolation', format(
        'FOR ALL TO tidings_runtime USING (%1$s) WITH CHECK (%1$s)', own_rows));
    IF any_role_writes THEN
        EXECUTE format('DROP POLICY IF EXISTS caller_role_writes ON %s', target);
        EXECUTE format('DROP POLICY IF EXISTS caller_role_deletes ON %s', target);
    ELSE
        CALL kernel.narrow_by_caller_role(tbl);
    END IF;
    CALL kernel.set_grants(target, 'tidings_runtime', verbs);
END;
$$;
COMMENT ON PROCEDURE kernel.protect_tenant_table IS
    'Forced row-level security by app.tenant_id, with exactly these verbs for the runtime role.';

-- A table whose tenant_id may be null: the platform's rows are read by all tenants and written by the platform only.
CREATE OR REPLACE PROCEDURE kernel.protect_shared_table(tbl text, tenant_verbs text, platform_verbs text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target regclass := tbl::regclass;
    platform_rows CONSTANT text := 'USING (tenant_id IS NULL) WITH CHECK (tenant_id IS NULL)';
BEGIN
    CALL kernel.protect_tenant_table(tbl, tenant_verbs);
    CALL kernel.set_policy(target, 'platform_rows_readable', 'FOR SELECT TO tidings_runtime USING (tenant_id IS NULL)');
    CALL kernel.set_policy(target, 'platform_access', 'FOR ALL TO tidings_platform ' || platform_rows);
    CALL kernel.set_policy(target, 'owner_seeds', 'FOR ALL TO tidings_owner ' || platform_rows);
    CALL kernel.set_grants(target, 'tidings_platform', platform_verbs);
END;
$$;
COMMENT ON PROCEDURE kernel.protect_shared_table IS
    'A tenant table that also holds the platform''s rows, where tenant_id is null.';

-- A table without tenant_id: all rows are the platform's.
CREATE OR REPLACE PROCEDURE kernel.protect_platform_table(tbl text, platform_verbs text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target regclass := tbl::regclass;
BEGIN
    CALL kernel.protect_service_table(tbl);
    CALL kernel.set_policy(target, 'platform_rows_readable', 'FOR SELECT TO tidings_runtime USING (true)');
    CALL kernel.set_policy(target, 'platform_access', 'FOR ALL TO tidings_platform USING (true) WITH CHECK (true)');
    CALL kernel.set_policy(target, 'owner_seeds', 'FOR ALL TO tidings_owner USING (true) WITH CHECK (true)');
    CALL kernel.narrow_by_caller_role(tbl);
    CALL kernel.set_grants(target, 'tidings_runtime', 'SELECT');
    CALL kernel.set_grants(target, 'tidings_platform', platform_verbs);
END;
$$;
COMMENT ON PROCEDURE kernel.protect_platform_table IS 'A table of the platform: readable by every tenant, written by the platform.';

-- Claims and sweeps see all tenants: only on tables, or columns, that hold ids and times.
CREATE OR REPLACE PROCEDURE kernel.open_to_worker(tbl text, verbs text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    CALL kernel.set_policy(tbl::regclass, 'worker_claims', 'FOR ALL TO tidings_worker USING (true) WITH CHECK (true)');
    CALL kernel.set_grants(tbl::regclass, 'tidings_worker', verbs);
END;
$$;
COMMENT ON PROCEDURE kernel.open_to_worker IS 'Lets the worker role claim or sweep across tenants, with exactly these verbs.';

CREATE OR REPLACE PROCEDURE kernel.open_to_platform(tbl text, verbs text, only_platform_rows boolean DEFAULT false)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    rows CONSTANT text := CASE WHEN only_platform_rows THEN 'tenant_id IS NULL' ELSE 'true' END;
BEGIN
    CALL kernel.set_policy(tbl::regclass, 'platform_access', format(
        'FOR ALL TO tidings_platform USING (%1$s) WITH CHECK (%1$s)', rows));
    CALL kernel.set_grants(tbl::regclass, 'tidings_platform', verbs);
END;
$$;
COMMENT ON PROCEDURE kernel.open_to_platform IS
    'Lets the platform role at a tenant table, with exactly these verbs; optionally only at rows without a tenant.';

-- A partition asked directly ignores its parent's policy, so it has no grants and a forced security without a policy.
CREATE OR REPLACE PROCEDURE kernel.seal_partition(tbl text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target regclass := tbl::regclass;
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
    EXECUTE format('REVOKE ALL ON %s FROM PUBLIC, tidings_runtime, tidings_worker, tidings_platform, tidings_breakglass',
                   target);
END;
$$;
COMMENT ON PROCEDURE kernel.seal_partition IS 'Closes a partition to everybody who does not come through its parent.';

CREATE OR REPLACE FUNCTION kernel.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '% of %.% refused: its rows are kept as they were written', tg_op, tg_table_schema, tg_table_name
        USING ERRCODE = 'restrict_violation',
              CONSTRAINT = tg_name,
              HINT = 'Write a new row that says what changed.';
END;
$$;
COMMENT ON FUNCTION kernel.refuse_change IS 'Trigger that raises: the table is append-only, or the row is frozen.';

-- The row trigger is cloned to every partition, present and future. TRUNCATE is watched on the table itself.
CREATE OR REPLACE PROCEDURE kernel.make_append_only(tbl text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target regclass := tbl::regclass;
BEGIN
    EXECUTE format('CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON %s '
                   'FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change()', target);
    EXECUTE format('CREATE OR REPLACE TRIGGER append_only_truncate BEFORE TRUNCATE ON %s '
                   'FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change()', target);
END;
$$;
COMMENT ON PROCEDURE kernel.make_append_only IS 'UPDATE, DELETE and TRUNCATE raise on this table.';

-- One wake-up per statement, whatever the number of rows; the relay learns which service's outbox to read.
-- NOTIFY takes one lock for the whole server until the commit is on disk: with it, writers commit one by one.
-- Measured with 16 writers: 21,200 commits a second without, 5,800 with, 19,600 with this. So it is sent only
-- while a relay rests. A resting relay holds the lock exclusively; a writer that gets its share knows that
-- the relay is awake and will look again after this transaction has ended, because only then can it rest.
CREATE OR REPLACE FUNCTION kernel.announce_outbox() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(7411001, hashtext(tg_table_schema) & 2147483647) THEN
        PERFORM pg_notify('tidings_outbox', tg_table_schema);
    END IF;
    RETURN NULL;
END;
$$;
COMMENT ON FUNCTION kernel.announce_outbox IS 'Trigger that wakes the relay after an insert into an outbox, if it rests.';

-- The same for a queue of work, whose name the trigger gives. What is critical or high (a rank of 0 or 1) is announced always,
-- under a name of its own: it must not wait until whoever is awake has time to look.
CREATE OR REPLACE FUNCTION kernel.announce_queue() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM fresh WHERE fresh.priority <= 1) THEN
        PERFORM pg_notify('tidings_queue', tg_argv[0] || '.express');
    ELSIF NOT pg_try_advisory_xact_lock_shared(7411001, hashtext(tg_argv[0]) & 2147483647) THEN
        PERFORM pg_notify('tidings_queue', tg_argv[0]);
    END IF;
    RETURN NULL;
END;
$$;
COMMENT ON FUNCTION kernel.announce_queue IS 'Trigger that wakes a worker after an insert into a queue, if one rests.';

REVOKE ALL ON ALL ROUTINES IN SCHEMA kernel FROM PUBLIC;
