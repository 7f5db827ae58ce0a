-- The schema after all migrations, without the partitions of months and days.
-- Written by `tidings migrate dump`; do not edit it by hand.

CREATE SCHEMA bff_backoffice;

COMMENT ON SCHEMA bff_backoffice IS 'Back office: ledgers and mirrors, no domain data.';

CREATE SCHEMA chan;

COMMENT ON SCHEMA chan IS 'Router.';

CREATE SCHEMA kernel;

COMMENT ON SCHEMA kernel IS 'Shared plumbing: migration ledger, bus, keys, flags, hot state, protection procedures.';

CREATE SCHEMA notification;

COMMENT ON SCHEMA notification IS 'Notify, rows that belong to a tenant.';

CREATE SCHEMA notification_platform;

COMMENT ON SCHEMA notification_platform IS 'Notify, rows that belong to the platform: readable by all, written by the platform.';

CREATE FUNCTION bff_backoffice.forget_alert_subscription() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM bff_backoffice.alert_subscriptions WHERE operator_id = new.id;
    RETURN NULL;
END;
$$;

COMMENT ON FUNCTION bff_backoffice.forget_alert_subscription() IS 'Trigger: removes what an operator who is erased had chosen to be told of.';

CREATE FUNCTION bff_backoffice.number_announcement() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    given bigint;
BEGIN
    -- At the commit: whoever comes later to this row waits until we have committed, and nothing else is locked behind it.
    INSERT INTO bff_backoffice.announcement_heads AS head (tenant_id, latest) VALUES (new.tenant_id, 1)
    ON CONFLICT (tenant_id) DO UPDATE SET latest = head.latest + 1
    RETURNING head.latest INTO given;
    UPDATE bff_backoffice.announcements SET number = given WHERE tenant_id IS NOT DISTINCT FROM new.tenant_id AND id = new.id;
    PERFORM pg_notify('tidings_announcements', coalesce(new.tenant_id, ''));
    RETURN NULL;
END;
$$;

COMMENT ON FUNCTION bff_backoffice.number_announcement() IS 'Trigger: numbers an announcement in the order of commits, and wakes the streams of its tenant.';

CREATE FUNCTION kernel.announce_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- The argument names the column by which the row is remembered; empty where the row is the platform's.
    IF tg_op <> 'INSERT' THEN
        PERFORM pg_notify('tidings_changes',
            format('%s.%s %s', tg_table_schema, tg_table_name, to_jsonb(old) ->> tg_argv[0]));
    END IF;
    IF tg_op <> 'DELETE' THEN
        PERFORM pg_notify('tidings_changes',
            format('%s.%s %s', tg_table_schema, tg_table_name, to_jsonb(new) ->> tg_argv[0]));
    END IF;
    RETURN NULL;
END;
$$;

COMMENT ON FUNCTION kernel.announce_change() IS 'Tells every process that a row which it may remember has changed.';

CREATE FUNCTION kernel.announce_outbox() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(7411001, hashtext(tg_table_schema) & 2147483647) THEN
        PERFORM pg_notify('tidings_outbox', tg_table_schema);
    END IF;
    RETURN NULL;
END;
$$;

COMMENT ON FUNCTION kernel.announce_outbox() IS 'Trigger that wakes the relay after an insert into an outbox, if it rests.';

CREATE FUNCTION kernel.announce_queue() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
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

COMMENT ON FUNCTION kernel.announce_queue() IS 'Trigger that wakes a worker after an insert into a queue, if one rests.';

CREATE PROCEDURE kernel.assert_protected()
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    faults text;
BEGIN
    WITH tables AS (
        SELECT c.oid, c.oid::regclass::text AS name, n.nspname AS schema, c.relispartition, c.relacl, c.relowner,
               c.relrowsecurity AND c.relforcerowsecurity AS forced
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p')
          AND n.nspname IN ('notification', 'notification_platform', 'chan', 'bff_backoffice', 'kernel')
          -- What every role may know: which migrations there are, and which tables have partitions.
          AND c.oid::regclass::text NOT IN
              ('kernel.schema_migrations', 'kernel.schema_migrations_log', 'kernel.partitioned_tables')
    ), grants AS (
        SELECT t.oid, t.relispartition, a.grantee
        FROM tables t CROSS JOIN LATERAL aclexplode(t.relacl) a
        WHERE a.grantee <> t.relowner
    ), found AS (
        SELECT name || ': row-level security is not enabled and forced' AS fault FROM tables WHERE NOT forced
        UNION ALL
        SELECT t.name || ': no break_glass policy' FROM tables t
        WHERE NOT t.relispartition
          AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = t.oid AND p.polname = 'break_glass')
        UNION ALL
        SELECT t.name || ': a partition has a policy' FROM tables t
        WHERE t.relispartition AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = t.oid)
        UNION ALL
        -- The justified exceptions: the platform's own, a ledger asked before a tenant is known, and numbers about accounts that all may share.
        SELECT t.name || ': no tenant_id' FROM tables t
        WHERE t.schema NOT IN ('notification_platform', 'kernel') AND t.name NOT IN ('chan.webhook_inbound_dedup', 'chan.circuit_counts', 'chan.inbound_unmatched')
          AND NOT EXISTS (SELECT FROM pg_attribute a
                          WHERE a.attrelid = t.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)
        UNION ALL
        SELECT t.name || ': tenant_id without a tenant_isolation policy' FROM tables t
        WHERE NOT t.relispartition
          AND EXISTS (SELECT FROM pg_attribute a
                      WHERE a.attrelid = t.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)
          AND NOT EXISTS (SELECT FROM pg_policy p
                          WHERE p.polrelid = t.oid AND p.polname = 'tenant_isolation' AND p.polcmd = '*'
                            AND p.polpermissive AND p.polqual IS NOT NULL AND p.polwithcheck IS NOT NULL)
        UNION ALL
        SELECT g.oid::regclass::text || ': granted to PUBLIC' FROM grants g WHERE g.grantee = 0
        UNION ALL
        SELECT g.oid::regclass::text || ': a partition has a grant' FROM grants g WHERE g.relispartition
    )
    SELECT string_agg(DISTINCT fault, E'\n' ORDER BY fault) INTO faults FROM found;
    IF faults IS NOT NULL THEN
        RAISE EXCEPTION E'unprotected tables:\n%', faults USING ERRCODE = 'insufficient_privilege';
    END IF;
END;
$$;

COMMENT ON PROCEDURE kernel.assert_protected() IS 'Raises, and names the tables, if any table is not protected.';

CREATE PROCEDURE kernel.make_append_only(IN tbl text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
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

COMMENT ON PROCEDURE kernel.make_append_only(IN tbl text) IS 'UPDATE, DELETE and TRUNCATE raise on this table.';

CREATE PROCEDURE kernel.narrow_by_caller_role(IN tbl text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;

COMMENT ON PROCEDURE kernel.narrow_by_caller_role(IN tbl text) IS 'Read-only caller roles cannot write this table.';

CREATE PROCEDURE kernel.open_to_platform(IN tbl text, IN verbs text, IN only_platform_rows boolean DEFAULT false)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    rows CONSTANT text := CASE WHEN only_platform_rows THEN 'tenant_id IS NULL' ELSE 'true' END;
BEGIN
    CALL kernel.set_policy(tbl::regclass, 'platform_access', format(
        'FOR ALL TO tidings_platform USING (%1$s) WITH CHECK (%1$s)', rows));
    CALL kernel.set_grants(tbl::regclass, 'tidings_platform', verbs);
END;
$_$;

COMMENT ON PROCEDURE kernel.open_to_platform(IN tbl text, IN verbs text, IN only_platform_rows boolean) IS 'Lets the platform role at a tenant table, with exactly these verbs; optionally only at rows without a tenant.';

CREATE PROCEDURE kernel.open_to_sets(IN tbl text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    -- nullif: after a transaction-local setting ends it reads as '', which must match no row.
    named_rows CONSTANT text := $q$(SELECT jsonb_object(named, named)
        FROM string_to_array(nullif(current_setting('app.tenant_ids', true), ''), ',') AS named) ? tenant_id$q$;
BEGIN
    CALL kernel.set_policy(tbl::regclass, 'tenant_sets', format(
        'FOR ALL TO tidings_runtime USING (%1$s) WITH CHECK (%1$s)', named_rows));
END;
$_$;

COMMENT ON PROCEDURE kernel.open_to_sets(IN tbl text) IS 'Lets a transaction touch rows of all tenants that it names in app.tenant_ids.';

CREATE PROCEDURE kernel.open_to_worker(IN tbl text, IN verbs text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    CALL kernel.set_policy(tbl::regclass, 'worker_claims', 'FOR ALL TO tidings_worker USING (true) WITH CHECK (true)');
    CALL kernel.set_grants(tbl::regclass, 'tidings_worker', verbs);
END;
$$;

COMMENT ON PROCEDURE kernel.open_to_worker(IN tbl text, IN verbs text) IS 'Lets the worker role claim or sweep across tenants, with exactly these verbs.';

CREATE PROCEDURE kernel.protect_platform_table(IN tbl text, IN platform_verbs text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
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

COMMENT ON PROCEDURE kernel.protect_platform_table(IN tbl text, IN platform_verbs text) IS 'A table of the platform: readable by every tenant, written by the platform.';

CREATE PROCEDURE kernel.protect_service_table(IN tbl text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
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

COMMENT ON PROCEDURE kernel.protect_service_table(IN tbl text) IS 'Forced row-level security, no grants; only break-glass reads.';

CREATE PROCEDURE kernel.protect_shared_table(IN tbl text, IN tenant_verbs text, IN platform_verbs text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
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

COMMENT ON PROCEDURE kernel.protect_shared_table(IN tbl text, IN tenant_verbs text, IN platform_verbs text) IS 'A tenant table that also holds the platform''s rows, where tenant_id is null.';

CREATE PROCEDURE kernel.protect_tenant_table(IN tbl text, IN verbs text, IN any_role_writes boolean DEFAULT false)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET client_min_messages TO 'warning'
    AS $_$
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
$_$;

COMMENT ON PROCEDURE kernel.protect_tenant_table(IN tbl text, IN verbs text, IN any_role_writes boolean) IS 'Forced row-level security by app.tenant_id, with exactly these verbs for the runtime role.';

CREATE FUNCTION kernel.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION '% of %.% refused: its rows are kept as they were written', tg_op, tg_table_schema, tg_table_name
        USING ERRCODE = 'restrict_violation',
              CONSTRAINT = tg_name,
              HINT = 'Write a new row that says what changed.';
END;
$$;

COMMENT ON FUNCTION kernel.refuse_change() IS 'Trigger that raises: the table is append-only, or the row is frozen.';

CREATE FUNCTION kernel.schema_migrations_log_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$
BEGIN
  RAISE EXCEPTION 'kernel.schema_migrations_log is append-only' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE PROCEDURE kernel.seal_partition(IN tbl text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
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

COMMENT ON PROCEDURE kernel.seal_partition(IN tbl text) IS 'Closes a partition to everybody who does not come through its parent.';

CREATE PROCEDURE kernel.set_grants(IN tbl regclass, IN grantee name, IN verbs text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('REVOKE ALL ON %s FROM %I', tbl, grantee);
    IF verbs <> '' THEN
        EXECUTE format('GRANT %s ON %s TO %I', verbs, tbl, grantee);
    END IF;
END;
$$;

COMMENT ON PROCEDURE kernel.set_grants(IN tbl regclass, IN grantee name, IN verbs text) IS 'Gives one role exactly the named privileges on a table.';

CREATE PROCEDURE kernel.set_policy(IN tbl regclass, IN policy text, IN definition text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET client_min_messages TO 'warning'
    AS $$
BEGIN
    EXECUTE format('DROP POLICY IF EXISTS %I ON %s', policy, tbl);
    EXECUTE format('CREATE POLICY %I ON %s %s', policy, tbl, definition);
END;
$$;

COMMENT ON PROCEDURE kernel.set_policy(IN tbl regclass, IN policy text, IN definition text) IS 'Replaces one row-level security policy.';

CREATE PROCEDURE kernel.store_as_ledger(IN tbl text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s SET (
        autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_insert_scale_factor = 0.05)', tbl::regclass);
END;
$$;

COMMENT ON PROCEDURE kernel.store_as_ledger(IN tbl text) IS 'For tables that hold millions of rows which are replaced or expire: vacuumed when a fiftieth is dead, not a fifth.';

CREATE PROCEDURE kernel.store_as_queue(IN tbl text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- vacuum_truncate: giving pages back would stop the writers, and they are needed again in a moment.
    EXECUTE format('ALTER TABLE %s SET (
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        vacuum_index_cleanup = on, vacuum_truncate = false,
        toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000,
        toast.autovacuum_vacuum_cost_delay = 0, toast.vacuum_truncate = false)', tbl::regclass);
END;
$$;

COMMENT ON PROCEDURE kernel.store_as_queue(IN tbl text) IS 'For tables whose rows are soon gone: vacuumed after every thousand, at once, with their indexes.';

CREATE FUNCTION notification.count_suppressions() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF tg_op = 'INSERT' THEN
        INSERT INTO notification.suppression_counts AS known (tenant_id, channel, reason, bucket, n)
        SELECT f.tenant_id, f.channel, f.reason, pg_current_xact_id()::text::bigint, count(*)
        FROM fresh AS f WHERE f.released_at IS NULL
        GROUP BY f.tenant_id, f.channel, f.reason
        ON CONFLICT ON CONSTRAINT pk_suppression_counts DO UPDATE SET n = known.n + excluded.n;
    ELSE
        INSERT INTO notification.suppression_counts AS known (tenant_id, channel, reason, bucket, n)
        SELECT moved.tenant_id, moved.channel, moved.reason, pg_current_xact_id()::text::bigint, sum(moved.n)
        FROM (
            SELECT f.tenant_id, f.channel, f.reason, 1 AS n FROM fresh AS f WHERE f.released_at IS NULL
            UNION ALL
            SELECT g.tenant_id, g.channel, g.reason, -1 FROM gone AS g WHERE g.released_at IS NULL
        ) AS moved
        GROUP BY moved.tenant_id, moved.channel, moved.reason
        HAVING sum(moved.n) <> 0
        ON CONFLICT ON CONSTRAINT pk_suppression_counts DO UPDATE SET n = known.n + excluded.n;
    END IF;
    RETURN NULL;
END;
$$;

COMMENT ON FUNCTION notification.count_suppressions() IS 'Trigger that counts suppressions as they come into force and are released.';

CREATE FUNCTION notification.keep_consent_event() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF tg_op = 'UPDATE' AND new.evidence IS NULL AND to_jsonb(new) - 'evidence' = to_jsonb(old) - 'evidence' THEN
        RETURN new;
    END IF;
    RAISE EXCEPTION '% of %.% refused: its rows are kept as they were written', tg_op, tg_table_schema, tg_table_name
        USING ERRCODE = 'restrict_violation',
              CONSTRAINT = tg_name,
              HINT = 'Write a new row that says what changed.';
END;
$$;

COMMENT ON FUNCTION notification.keep_consent_event() IS 'Trigger that raises, but where an erasure removes the evidence alone.';

CREATE FUNCTION notification.refuse_published_asset() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM notification.template_versions v
               WHERE v.tenant_id = coalesce(NEW.tenant_id, OLD.tenant_id)
                 AND v.id IN (NEW.version_id, OLD.version_id) AND v.status <> 'draft') THEN
        RAISE EXCEPTION '% of %.% refused: its version was published', tg_op, tg_table_schema, tg_table_name
            USING ERRCODE = 'restrict_violation', CONSTRAINT = tg_name, HINT = 'Make a new version.';
    END IF;
    RETURN coalesce(NEW, OLD);
END;
$$;

COMMENT ON FUNCTION notification.refuse_published_asset() IS 'Trigger that raises: pictures of what was published are frozen.';

CREATE FUNCTION notification.refuse_unknown_category() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM notification_platform.categories p WHERE p.category = NEW.category)
       AND NOT EXISTS (SELECT 1 FROM notification.categories c
                       WHERE c.tenant_id = NEW.tenant_id AND c.category = NEW.category AND c.own) THEN
        RAISE EXCEPTION 'there is no category %', NEW.category
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'fk_templates_category';
    END IF;
    RETURN NEW;
END;
$$;

COMMENT ON FUNCTION notification.refuse_unknown_category() IS 'Trigger that raises: neither the platform nor the tenant has this category.';

CREATE FUNCTION notification_platform.refuse_published_asset() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM notification_platform.template_versions v
               WHERE v.id IN (NEW.version_id, OLD.version_id) AND v.status <> 'draft') THEN
        RAISE EXCEPTION '% of %.% refused: its version was published', tg_op, tg_table_schema, tg_table_name
            USING ERRCODE = 'restrict_violation', CONSTRAINT = tg_name, HINT = 'Make a new version.';
    END IF;
    RETURN coalesce(NEW, OLD);
END;
$$;

COMMENT ON FUNCTION notification_platform.refuse_published_asset() IS 'Trigger that raises: pictures of what was published are frozen.';

CREATE TABLE bff_backoffice.ai_decision_deliveries (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    entry_id text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'waiting'::text NOT NULL COLLATE pg_catalog."C",
    due_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text COLLATE pg_catalog."C",
    claimed_by text COLLATE pg_catalog."C",
    CONSTRAINT ck_ai_decision_deliveries_id CHECK ((id ~ '^sdl_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_ai_decision_deliveries_status CHECK ((status = ANY (ARRAY['waiting'::text, 'dead'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY bff_backoffice.ai_decision_deliveries FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.ai_decision_deliveries IS 'Decisions of ai_decision_log that the service has to be told; the id is that of the decision. Removed when it knows.';

COMMENT ON COLUMN bff_backoffice.ai_decision_deliveries.last_error IS 'Why the last attempt failed: a code.';

CREATE TABLE bff_backoffice.ai_decision_keys (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    suggestion_id text NOT NULL COLLATE pg_catalog."C",
    decided_by text NOT NULL COLLATE pg_catalog."C",
    decision_id text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE ONLY bff_backoffice.ai_decision_keys FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.ai_decision_keys IS 'One decision of each operator on each suggestion: written before the row of ai_decision_log, in its transaction.';

CREATE TABLE bff_backoffice.ai_decision_log (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    decided_at timestamp with time zone NOT NULL,
    property_id text COLLATE pg_catalog."C",
    suggestion_id text NOT NULL COLLATE pg_catalog."C",
    inbox_entry_id text NOT NULL COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    severity text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    decided_by text NOT NULL COLLATE pg_catalog."C",
    device_id text NOT NULL COLLATE pg_catalog."C",
    note_id text COLLATE pg_catalog."C",
    delta_ciphertext bytea,
    provenance_ciphertext bytea NOT NULL,
    CONSTRAINT ck_ai_decision_log_id CHECK ((id ~ '^sdl_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_ai_decision_log_outcome CHECK ((outcome = ANY (ARRAY['accepted'::text, 'rejected'::text, 'modified'::text])))
)
PARTITION BY RANGE (decided_at);

ALTER TABLE ONLY bff_backoffice.ai_decision_log FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.ai_decision_log IS 'Append-only: what people decided about AI suggestions, with provenance; 7 years, by month.';

COMMENT ON COLUMN bff_backoffice.ai_decision_log.decided_at IS 'The time inside the id.';

COMMENT ON COLUMN bff_backoffice.ai_decision_log.note_id IS 'In bff_backoffice.notes; null: without a note.';

COMMENT ON COLUMN bff_backoffice.ai_decision_log.delta_ciphertext IS 'JSON under the tenant''s key: what was changed before accepting; of modified ones.';

COMMENT ON COLUMN bff_backoffice.ai_decision_log.provenance_ciphertext IS 'JSON under the tenant''s key: where the suggestion came from.';

CREATE TABLE bff_backoffice.ai_inbox_entries (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    suggestion_id text NOT NULL COLLATE pg_catalog."C",
    property_id text COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    severity text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'open'::text NOT NULL COLLATE pg_catalog."C",
    content_ciphertext bytea NOT NULL,
    suggested_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    decided_at timestamp with time zone,
    decided_by text COLLATE pg_catalog."C",
    closed_at timestamp with time zone,
    delivery text COLLATE pg_catalog."C",
    CONSTRAINT ck_ai_inbox_entries_closed CHECK (((status = 'open'::text) = (closed_at IS NULL))),
    CONSTRAINT ck_ai_inbox_entries_decided CHECK (((status = ANY (ARRAY['accepted'::text, 'rejected'::text, 'modified'::text])) = (decided_by IS NOT NULL))),
    CONSTRAINT ck_ai_inbox_entries_delivery CHECK ((delivery = ANY (ARRAY['waiting'::text, 'delivered'::text, 'refused'::text, 'dead'::text]))),
    CONSTRAINT ck_ai_inbox_entries_id CHECK ((id ~ '^aim_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_ai_inbox_entries_severity CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text]))),
    CONSTRAINT ck_ai_inbox_entries_source CHECK ((source = ANY (ARRAY['assistant'::text, 'template'::text]))),
    CONSTRAINT ck_ai_inbox_entries_status CHECK ((status = ANY (ARRAY['open'::text, 'accepted'::text, 'rejected'::text, 'modified'::text, 'expired'::text])))
);

ALTER TABLE ONLY bff_backoffice.ai_inbox_entries FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.ai_inbox_entries IS 'Suggestions of an AI, until some weeks after they were decided or expired.';

COMMENT ON COLUMN bff_backoffice.ai_inbox_entries.property_id IS 'Null: it is about the whole tenant, such as the draft of a template.';

COMMENT ON COLUMN bff_backoffice.ai_inbox_entries.content_ciphertext IS 'JSON under the tenant''s key: title, body, proposal, provenance.';

COMMENT ON COLUMN bff_backoffice.ai_inbox_entries.delivery IS 'Whether the service that suggested it knows the decision; null: there is none to tell.';

CREATE TABLE bff_backoffice.ai_inbox_places (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    property_id text NOT NULL COLLATE pg_catalog."C",
    pulled_at timestamp with time zone
);

ALTER TABLE ONLY bff_backoffice.ai_inbox_places FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.ai_inbox_places IS 'When the service `assistant` was asked last about a property.';

COMMENT ON COLUMN bff_backoffice.ai_inbox_places.pulled_at IS 'Null: it has said that something is different since.';

CREATE TABLE bff_backoffice.alert_ack_log (
    tenant_id text COLLATE pg_catalog."C",
    alert_id text NOT NULL COLLATE pg_catalog."C",
    acknowledged_by text NOT NULL COLLATE pg_catalog."C",
    property_id text COLLATE pg_catalog."C",
    category text NOT NULL,
    severity text NOT NULL,
    raised_at timestamp with time zone NOT NULL,
    acknowledged_at timestamp with time zone DEFAULT now() NOT NULL,
    device_id text NOT NULL COLLATE pg_catalog."C",
    note_id text COLLATE pg_catalog."C",
    withdrawn_at timestamp with time zone
);

ALTER TABLE ONLY bff_backoffice.alert_ack_log FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.alert_ack_log IS 'Who acknowledged which alert, once each; 365 days. tenant_id null: an alert of the platform.';

COMMENT ON COLUMN bff_backoffice.alert_ack_log.note_id IS 'In bff_backoffice.notes; null: without a note.';

COMMENT ON COLUMN bff_backoffice.alert_ack_log.withdrawn_at IS 'When they took it back; null again if they acknowledge once more.';

CREATE TABLE bff_backoffice.alert_budgets (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    micros bigint NOT NULL,
    set_by text NOT NULL COLLATE pg_catalog."C",
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_alert_budgets_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT ck_alert_budgets_micros CHECK ((micros > 0))
);

ALTER TABLE ONLY bff_backoffice.alert_budgets FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.alert_budgets IS 'What a tenant means to spend in a month, by currency; an alert says when it is nearly spent.';

COMMENT ON COLUMN bff_backoffice.alert_budgets.set_by IS 'Not personal: an operator''s id.';

CREATE TABLE bff_backoffice.alert_mutes (
    tenant_id text COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    muted_until timestamp with time zone NOT NULL,
    muted_by text NOT NULL COLLATE pg_catalog."C",
    muted_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY bff_backoffice.alert_mutes REPLICA IDENTITY FULL;

ALTER TABLE ONLY bff_backoffice.alert_mutes FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.alert_mutes IS 'Categories of alerts of which nobody is told until then. tenant_id null: the platform''s own.';

COMMENT ON COLUMN bff_backoffice.alert_mutes.muted_by IS 'Not personal: an operator''s id.';

CREATE TABLE bff_backoffice.alert_notices (
    tenant_id text COLLATE pg_catalog."C",
    operator_id text NOT NULL COLLATE pg_catalog."C",
    dedup_key text NOT NULL COLLATE pg_catalog."C",
    alert_id text NOT NULL COLLATE pg_catalog."C",
    told_at timestamp with time zone NOT NULL,
    times integer DEFAULT 1 NOT NULL
);

ALTER TABLE ONLY bff_backoffice.alert_notices FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.alert_notices IS 'Which operator was told of what, and when last, so that nobody is told twice of one outage; a month.';

CREATE TABLE bff_backoffice.alert_subscriptions (
    tenant_id text COLLATE pg_catalog."C",
    operator_id text NOT NULL COLLATE pg_catalog."C",
    severity text NOT NULL COLLATE pg_catalog."C",
    language text NOT NULL COLLATE pg_catalog."C",
    phone_ciphertext bytea,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_alert_subscriptions_severity CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text])))
);

ALTER TABLE ONLY bff_backoffice.alert_subscriptions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.alert_subscriptions IS 'Operators who want to be told of alerts. tenant_id null: of the platform''s. Without a row nobody is told.';

COMMENT ON COLUMN bff_backoffice.alert_subscriptions.severity IS 'Alerts of this severity and graver ones.';

COMMENT ON COLUMN bff_backoffice.alert_subscriptions.phone_ciphertext IS 'A number for text messages, sealed under the operator''s own key.';

CREATE TABLE bff_backoffice.alerts (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    dedup_key text NOT NULL COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    severity text NOT NULL COLLATE pg_catalog."C",
    property_id text COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    facts text DEFAULT '{}'::text NOT NULL,
    status text DEFAULT 'raised'::text NOT NULL COLLATE pg_catalog."C",
    raised_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    times_seen integer DEFAULT 1 NOT NULL,
    acknowledged_at timestamp with time zone,
    resolved_at timestamp with time zone,
    resolved_by text COLLATE pg_catalog."C",
    CONSTRAINT ck_alerts_acknowledged CHECK (((status <> 'acknowledged'::text) OR (acknowledged_at IS NOT NULL))),
    CONSTRAINT ck_alerts_id CHECK ((id ~ '^ali_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_alerts_resolved CHECK ((((status = 'resolved'::text) = (resolved_at IS NOT NULL)) AND ((status = 'resolved'::text) = (resolved_by IS NOT NULL)))),
    CONSTRAINT ck_alerts_severity CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text]))),
    CONSTRAINT ck_alerts_status CHECK ((status = ANY (ARRAY['raised'::text, 'acknowledged'::text, 'resolved'::text])))
);

ALTER TABLE ONLY bff_backoffice.alerts FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.alerts IS 'What operators have to know of: raised, acknowledged, resolved. tenant_id null: the platform''s own. 365 days after the end.';

COMMENT ON COLUMN bff_backoffice.alerts.dedup_key IS 'Of two open alerts of one key there is one; after its end the next is a new row.';

COMMENT ON COLUMN bff_backoffice.alerts.source IS 'Not personal: the part of Tidings that raised it.';

COMMENT ON COLUMN bff_backoffice.alerts.facts IS 'JSON: ids and numbers. What it says to a person is made of category and facts when it is shown.';

COMMENT ON COLUMN bff_backoffice.alerts.acknowledged_at IS 'When the first operator did; all of them are in alert_ack_log.';

COMMENT ON COLUMN bff_backoffice.alerts.resolved_by IS 'Not personal: an operator''s id, or the part of Tidings that saw the end.';

CREATE TABLE bff_backoffice.announcement_heads (
    tenant_id text COLLATE pg_catalog."C",
    latest bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY bff_backoffice.announcement_heads FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.announcement_heads IS 'The number of the last announcement of each tenant; tenant_id null: of the platform.';

CREATE TABLE bff_backoffice.announcements (
    tenant_id text COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    number bigint,
    channel text NOT NULL COLLATE pg_catalog."C",
    property_id text COLLATE pg_catalog."C",
    operator_id text COLLATE pg_catalog."C",
    device_id text COLLATE pg_catalog."C",
    facts text NOT NULL,
    told_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_announcements_id CHECK ((id ~ '^ann_[0-9A-HJKMNP-TV-Z]{26}$'::text))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY bff_backoffice.announcements FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.announcements IS 'What open streams of operators'' devices are told: ids and counts; kept for an hour. tenant_id null: of the platform.';

COMMENT ON COLUMN bff_backoffice.announcements.number IS 'Its place in the order of commits within the tenant; null only within the transaction that tells it.';

COMMENT ON COLUMN bff_backoffice.announcements.property_id IS 'Heard by who has a right to this property; null: by everybody of the tenant whom the next two name.';

COMMENT ON COLUMN bff_backoffice.announcements.facts IS 'JSON: ids and counts.';

CREATE TABLE bff_backoffice.attestations (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    operator_id text NOT NULL COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    device_id text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT ck_attestations_id CHECK ((id ~ '^mfa_[0-9A-HJKMNP-TV-Z]{26}$'::text))
);

ALTER TABLE ONLY bff_backoffice.attestations FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.attestations IS 'Proofs of a second factor: each for one action of one operator in one session on one device, once, within five minutes.';

CREATE TABLE bff_backoffice.audit (
    tenant_id text COLLATE pg_catalog."C",
    entity_type text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    occurred_at timestamp with time zone NOT NULL,
    entity_id text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL COLLATE pg_catalog."C",
    before text,
    after text,
    ip_hash text COLLATE pg_catalog."C",
    user_agent_hash text COLLATE pg_catalog."C",
    trace_id text COLLATE pg_catalog."C",
    reason text,
    prev_hash text COLLATE pg_catalog."C",
    record_hash text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT ck_audit_action CHECK ((action ~ '^[a-z][a-z0-9_.]{1,62}$'::text)),
    CONSTRAINT ck_audit_entity_type CHECK ((entity_type ~ '^[a-z][a-z0-9_]{1,62}$'::text)),
    CONSTRAINT ck_audit_first CHECK (((seq = 1) = (prev_hash IS NULL))),
    CONSTRAINT ck_audit_id CHECK ((id ~ '^bff_audit_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_audit_prev_hash CHECK ((prev_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_audit_record_hash CHECK ((record_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_audit_seq CHECK ((seq >= 1))
)
PARTITION BY RANGE (occurred_at);

ALTER TABLE ONLY bff_backoffice.audit FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.audit IS 'Who changed operators, their rights and their sessions, append-only and hash-chained. tenant_id null: the platform''s own.';

COMMENT ON COLUMN bff_backoffice.audit.seq IS 'Counts from 1 within tenant and entity type, without gaps.';

COMMENT ON COLUMN bff_backoffice.audit.occurred_at IS 'The time inside the id; never earlier than the stream''s previous row.';

COMMENT ON COLUMN bff_backoffice.audit.before IS 'JSON, redacted: no address, body or secret.';

COMMENT ON COLUMN bff_backoffice.audit.after IS 'JSON, redacted: no address, body or secret.';

COMMENT ON COLUMN bff_backoffice.audit.ip_hash IS 'Peppered; the raw address is not kept.';

COMMENT ON COLUMN bff_backoffice.audit.record_hash IS 'Hex sha256 over every other column, prev_hash included; the form is in kernel/audit/record.py.';

CREATE TABLE bff_backoffice.audit_heads (
    tenant_id text COLLATE pg_catalog."C",
    entity_type text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    record_hash text COLLATE pg_catalog."C",
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_audit_heads_seq CHECK ((seq >= 0))
)
WITH (fillfactor='50');

ALTER TABLE ONLY bff_backoffice.audit_heads REPLICA IDENTITY FULL;

ALTER TABLE ONLY bff_backoffice.audit_heads FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.audit_heads IS 'The last row of every audit stream: appenders lock it, and a cut-off tail is seen by it.';

CREATE TABLE bff_backoffice.consumed_events (
    consumer_name text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    consumed_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone DEFAULT (now() + '30 days'::interval) NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY bff_backoffice.consumed_events FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.consumed_events IS 'Which consumer has applied which event; outlives the bus and its dead letters.';

COMMENT ON COLUMN bff_backoffice.consumed_events.consumer_name IS 'Not personal: the consumer group.';

CREATE TABLE bff_backoffice.device_keys (
    tenant_id text COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    device_id text NOT NULL COLLATE pg_catalog."C",
    public_key text NOT NULL COLLATE pg_catalog."C",
    key_hash text NOT NULL COLLATE pg_catalog."C",
    registered_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY bff_backoffice.device_keys FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.device_keys IS 'Public keys of devices: each request of the session is signed with the private one, which never leaves the device. tenant_id null: of operators of the platform.';

COMMENT ON COLUMN bff_backoffice.device_keys.public_key IS 'Of P-256, as x and y in base64url with a dot between.';

COMMENT ON COLUMN bff_backoffice.device_keys.key_hash IS 'Proof that the application wrote it: session, device and key under the back office''s pepper.';

CREATE TABLE bff_backoffice.device_proofs (
    tenant_id text COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    jti text NOT NULL COLLATE pg_catalog."C",
    expires_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY bff_backoffice.device_proofs FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.device_proofs IS 'Proofs of requests that were used: each works once. Kept until their time is over.';

CREATE TABLE bff_backoffice.device_sync_status (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    device_id text NOT NULL COLLATE pg_catalog."C",
    property_id text COLLATE pg_catalog."C",
    operator_id text COLLATE pg_catalog."C",
    last_heartbeat_at timestamp with time zone,
    last_sync_handshake_at timestamp with time zone,
    last_pull_cursor text,
    last_push_ack text,
    cursor_version integer DEFAULT 0 NOT NULL,
    app_version text,
    app_platform text,
    installer_channel text DEFAULT 'stable'::text NOT NULL,
    network_profile text,
    status text DEFAULT 'online'::text NOT NULL,
    pending_hints jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    offline_since timestamp with time zone,
    CONSTRAINT ck_device_sync_status_id CHECK ((id ~ '^dsy_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_device_sync_status_status CHECK ((status = ANY (ARRAY['online'::text, 'offline'::text, 'signed_out'::text]))),
    CONSTRAINT ck_device_sync_status_version CHECK ((cursor_version >= 0))
);

ALTER TABLE ONLY bff_backoffice.device_sync_status FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.device_sync_status IS 'Heartbeat and sync cursors of each operator device.';

COMMENT ON COLUMN bff_backoffice.device_sync_status.last_pull_cursor IS 'How far the device has pulled, in its own words.';

COMMENT ON COLUMN bff_backoffice.device_sync_status.last_push_ack IS 'The last announcement of its stream that it has dealt with.';

COMMENT ON COLUMN bff_backoffice.device_sync_status.cursor_version IS 'Grows with every change of the cursor; a change names the one it is made from.';

COMMENT ON COLUMN bff_backoffice.device_sync_status.status IS 'offline: its operator is signed in, and it has been silent for five minutes; signed_out: silent, and nobody is signed in on it.';

COMMENT ON COLUMN bff_backoffice.device_sync_status.pending_hints IS 'What it said last that it has queued while offline: kinds, counts and ids.';

COMMENT ON COLUMN bff_backoffice.device_sync_status.offline_since IS 'When the outage was noticed; null: there is none.';

CREATE TABLE bff_backoffice.devices (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    secret_hash text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_devices_id CHECK ((id ~ '^dvc_[0-9A-HJKMNP-TV-Z]{26}$'::text))
);

ALTER TABLE ONLY bff_backoffice.devices FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.devices IS 'Browsers that operators have signed in from. tenant_id null: of operators of the platform.';

COMMENT ON COLUMN bff_backoffice.devices.secret_hash IS 'Of the secret in the device''s own cookie, under the back office''s pepper.';

COMMENT ON COLUMN bff_backoffice.devices.last_used_at IS 'When somebody signed in from it last.';

CREATE TABLE bff_backoffice.exports (
    tenant_id text COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    ledger text NOT NULL COLLATE pg_catalog."C",
    part integer NOT NULL,
    month date NOT NULL,
    from_at timestamp with time zone NOT NULL,
    until_at timestamp with time zone NOT NULL,
    object_key text COLLATE pg_catalog."C",
    rows bigint,
    bytes bigint,
    checksum text COLLATE pg_catalog."C",
    begun_at timestamp with time zone NOT NULL,
    verified_at timestamp with time zone,
    CONSTRAINT ck_exports_id CHECK ((id ~ '^exp_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_exports_time CHECK ((from_at <= until_at)),
    CONSTRAINT ck_exports_verified CHECK (((verified_at IS NULL) = (rows IS NULL)))
);

ALTER TABLE ONLY bff_backoffice.exports REPLICA IDENTITY FULL;

ALTER TABLE ONLY bff_backoffice.exports FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.exports IS 'The manifest of ledgers in Parquet: each part holds the rows of one tenant and one stretch of time; parts follow each other without gap or overlap. tenant_id null: the platform''s own.';

COMMENT ON COLUMN bff_backoffice.exports.part IS 'Counts from 1 within tenant and ledger, without gaps.';

COMMENT ON COLUMN bff_backoffice.exports.until_at IS 'Not in the part any more.';

COMMENT ON COLUMN bff_backoffice.exports.object_key IS 'In the blob store; null: there were no rows, or it is not verified.';

COMMENT ON COLUMN bff_backoffice.exports.verified_at IS 'When it was read back and found whole; null: it is being written, and begun anew by whoever comes next.';

CREATE TABLE bff_backoffice.idempotency_keys (
    tenant_id text COLLATE pg_catalog."C",
    scope text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    request_hash text NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT 'in_progress'::text NOT NULL,
    locked_until timestamp with time zone,
    status integer,
    response text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone DEFAULT (now() + '24:00:00'::interval) NOT NULL,
    CONSTRAINT ck_idempotency_keys_done CHECK (((state <> 'done'::text) OR ((status IS NOT NULL) AND (response IS NOT NULL)))),
    CONSTRAINT ck_idempotency_keys_key CHECK (((length(key) >= 1) AND (length(key) <= 255))),
    CONSTRAINT ck_idempotency_keys_state CHECK ((state = ANY (ARRAY['in_progress'::text, 'done'::text])))
);

ALTER TABLE ONLY bff_backoffice.idempotency_keys REPLICA IDENTITY FULL;

ALTER TABLE ONLY bff_backoffice.idempotency_keys FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.idempotency_keys IS 'Answers to operators'' requests that carried an Idempotency-Key.';

CREATE TABLE bff_backoffice.lock_action_proxy_audit (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    occurred_at timestamp with time zone NOT NULL,
    property_id text NOT NULL COLLATE pg_catalog."C",
    operator_id text NOT NULL COLLATE pg_catalog."C",
    device_id text NOT NULL COLLATE pg_catalog."C",
    reservation_id text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    vendor text COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    error_code text COLLATE pg_catalog."C",
    mfa_attestation_id text COLLATE pg_catalog."C",
    upstream_request_id text NOT NULL COLLATE pg_catalog."C",
    upstream_latency_ms integer NOT NULL,
    settles_id text COLLATE pg_catalog."C",
    CONSTRAINT ck_lock_action_proxy_audit_action CHECK ((action = ANY (ARRAY['issue'::text, 'revoke'::text, 'rebind'::text, 'extend'::text]))),
    CONSTRAINT ck_lock_action_proxy_audit_id CHECK ((id ~ '^lap_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_lock_action_proxy_audit_outcome CHECK ((outcome = ANY (ARRAY['success'::text, 'failure'::text, 'refused'::text, 'unknown'::text])))
)
PARTITION BY RANGE (occurred_at);

ALTER TABLE ONLY bff_backoffice.lock_action_proxy_audit FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.lock_action_proxy_audit IS 'Append-only: lock actions that operators asked for, those that were refused or failed too; 7 years, by month.';

COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.occurred_at IS 'The time inside the id.';

COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.vendor IS 'Of the lock, as the lock service says; null: it was never learned.';

COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.outcome IS 'refused: by us, before the call; failure: by the lock service; unknown: its answer was not learned, and a later row settles it.';

COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.mfa_attestation_id IS 'Null: refused, as there was none.';

COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.upstream_request_id IS 'As the lock service calls the request in its logs; the id of the first row where it never answered.';

COMMENT ON COLUMN bff_backoffice.lock_action_proxy_audit.settles_id IS 'The row of outcome unknown whose end this one tells.';

CREATE TABLE bff_backoffice.lock_actions (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    property_id text NOT NULL COLLATE pg_catalog."C",
    operator_id text NOT NULL COLLATE pg_catalog."C",
    device_id text NOT NULL COLLATE pg_catalog."C",
    reservation_id text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    mfa_attestation_id text NOT NULL COLLATE pg_catalog."C",
    asked_at timestamp with time zone NOT NULL,
    unknown_id text COLLATE pg_catalog."C",
    due_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    key_scope text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idempotency_key text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT ck_lock_actions_id CHECK ((id ~ '^lap_[0-9A-HJKMNP-TV-Z]{26}$'::text))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY bff_backoffice.lock_actions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.lock_actions IS 'Lock actions whose end is not known yet; a job asks the lock service for those that are due.';

COMMENT ON COLUMN bff_backoffice.lock_actions.id IS 'The id of the row that the audit gets, and the Idempotency-Key by which the lock service knows the request again.';

COMMENT ON COLUMN bff_backoffice.lock_actions.unknown_id IS 'The row of the audit that says unknown; null: the process ended before it wrote one.';

COMMENT ON COLUMN bff_backoffice.lock_actions.key_scope IS 'Operator, device and operation: what the caller''s own key is unique within.';

COMMENT ON COLUMN bff_backoffice.lock_actions.idempotency_key IS 'The caller''s own.';

CREATE TABLE bff_backoffice.notes (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    about_id text NOT NULL COLLATE pg_catalog."C",
    property_id text COLLATE pg_catalog."C",
    written_by text NOT NULL COLLATE pg_catalog."C",
    written_at timestamp with time zone NOT NULL,
    kept_until timestamp with time zone NOT NULL,
    text_ciphertext bytea,
    redacted_at timestamp with time zone,
    redacted_by text COLLATE pg_catalog."C",
    CONSTRAINT ck_notes_id CHECK ((id ~ '^note_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_notes_redacted CHECK ((((redacted_at IS NULL) = (redacted_by IS NULL)) AND ((redacted_at IS NULL) OR (text_ciphertext IS NULL))))
);

ALTER TABLE ONLY bff_backoffice.notes FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.notes IS 'Notes that operators write when they acknowledge or decide: 200 characters at most, sealed under the tenant''s key, redacted by a data steward.';

COMMENT ON COLUMN bff_backoffice.notes.about_id IS 'The row beside which it was written: an alert, a decision.';

COMMENT ON COLUMN bff_backoffice.notes.property_id IS 'Null: about no property.';

COMMENT ON COLUMN bff_backoffice.notes.kept_until IS 'As long as the ledger that names it.';

COMMENT ON COLUMN bff_backoffice.notes.text_ciphertext IS 'Null once redacted.';

CREATE TABLE bff_backoffice.offline_action_queue_hints (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    device_id text NOT NULL COLLATE pg_catalog."C",
    operator_id text NOT NULL COLLATE pg_catalog."C",
    reported_at timestamp with time zone DEFAULT now() NOT NULL,
    payload text NOT NULL,
    app_version text NOT NULL,
    CONSTRAINT ck_offline_action_queue_hints_id CHECK ((id ~ '^oaq_[0-9A-HJKMNP-TV-Z]{26}$'::text))
);

ALTER TABLE ONLY bff_backoffice.offline_action_queue_hints FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.offline_action_queue_hints IS 'What a device says it has queued while offline; informational, 7 days.';

COMMENT ON COLUMN bff_backoffice.offline_action_queue_hints.payload IS 'JSON: kinds, counts and ids.';

CREATE TABLE bff_backoffice.operator_activity (
    tenant_id text COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    occurred_at timestamp with time zone NOT NULL,
    property_id text COLLATE pg_catalog."C",
    operator_id text NOT NULL COLLATE pg_catalog."C",
    device_id text NOT NULL COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    resource_kind text COLLATE pg_catalog."C",
    resource_id text COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    status smallint NOT NULL,
    error_code text COLLATE pg_catalog."C",
    latency_ms integer NOT NULL,
    context_hash text COLLATE pg_catalog."C",
    CONSTRAINT ck_operator_activity_id CHECK ((id ~ '^act_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_operator_activity_outcome CHECK ((outcome = ANY (ARRAY['success'::text, 'refused'::text, 'failure'::text])))
)
PARTITION BY RANGE (occurred_at);

ALTER TABLE ONLY bff_backoffice.operator_activity FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.operator_activity IS 'Append-only: every request of an operator, refusals too. A month is dropped 90 to 120 days later, once it is exported. tenant_id null: the platform''s own.';

COMMENT ON COLUMN bff_backoffice.operator_activity.occurred_at IS 'The time inside the id.';

COMMENT ON COLUMN bff_backoffice.operator_activity.category IS 'Not personal: the group of operations in the API document, or console for a page.';

COMMENT ON COLUMN bff_backoffice.operator_activity.action IS 'Not personal: the operation, as the API document calls it.';

COMMENT ON COLUMN bff_backoffice.operator_activity.resource_id IS 'An id, never a name or an address.';

COMMENT ON COLUMN bff_backoffice.operator_activity.outcome IS 'refused: answered with 4xx; failure: with 5xx.';

COMMENT ON COLUMN bff_backoffice.operator_activity.latency_ms IS 'Until the answer stood; writing this row is not in it.';

COMMENT ON COLUMN bff_backoffice.operator_activity.context_hash IS 'Of the place and the browser that it came from, peppered: two rows with the same one came from the same.';

CREATE TABLE bff_backoffice.operator_preferences (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    operator_id text NOT NULL COLLATE pg_catalog."C",
    property_id text COLLATE pg_catalog."C",
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    payload_ciphertext bytea NOT NULL,
    fetched_at timestamp with time zone,
    CONSTRAINT ck_operator_preferences_id CHECK ((id ~ '^opr_[0-9A-HJKMNP-TV-Z]{26}$'::text))
);

ALTER TABLE ONLY bff_backoffice.operator_preferences FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.operator_preferences IS 'Mirror of operators'' preferences, with the version that the service `operators` gives them.';

COMMENT ON COLUMN bff_backoffice.operator_preferences.property_id IS 'Null: for all properties.';

COMMENT ON COLUMN bff_backoffice.operator_preferences.payload_ciphertext IS 'JSON under the operator''s own key: erasing them destroys it.';

COMMENT ON COLUMN bff_backoffice.operator_preferences.fetched_at IS 'When it was as the service has it; null: it has changed there since.';

CREATE TABLE bff_backoffice.operators (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'invited'::text NOT NULL COLLATE pg_catalog."C",
    grant_hash text NOT NULL COLLATE pg_catalog."C",
    name_ciphertext bytea,
    email_ciphertext bytea,
    email_hash text COLLATE pg_catalog."C",
    password_hash text COLLATE pg_catalog."C",
    totp_ciphertext bytea,
    totp_step bigint DEFAULT 0 NOT NULL,
    recovery_hashes text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    failures integer DEFAULT 0 NOT NULL,
    code_failures integer DEFAULT 0 NOT NULL,
    locked_until timestamp with time zone,
    link_hash text COLLATE pg_catalog."C",
    link_kind text COLLATE pg_catalog."C",
    link_expires_at timestamp with time zone,
    created_by text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    erased_at timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    properties text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    passkeys integer DEFAULT 0 NOT NULL,
    CONSTRAINT ck_operators_erased CHECK (((erased_at IS NULL) OR ((status = 'disabled'::text) AND (num_nonnulls(name_ciphertext, email_ciphertext, email_hash, password_hash, totp_ciphertext, link_hash) = 0)))),
    CONSTRAINT ck_operators_id CHECK ((id ~ '^oper_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_operators_link CHECK ((((link_hash IS NULL) = (link_expires_at IS NULL)) AND ((link_hash IS NULL) = (link_kind IS NULL)) AND (link_kind = ANY (ARRAY['join'::text, 'open'::text])))),
    CONSTRAINT ck_operators_locked CHECK (((status = 'locked'::text) = (locked_until IS NOT NULL))),
    CONSTRAINT ck_operators_role CHECK ((role = ANY (ARRAY['platform.channel.admin'::text, 'platform.support'::text, 'tenant.admin'::text, 'tenant.support'::text, 'tenant.viewer'::text]))),
    CONSTRAINT ck_operators_role_fits_tenant CHECK (((tenant_id IS NULL) = (role ~~ 'platform.%'::text))),
    CONSTRAINT ck_operators_status CHECK ((status = ANY (ARRAY['invited'::text, 'active'::text, 'locked'::text, 'disabled'::text])))
);

ALTER TABLE ONLY bff_backoffice.operators FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.operators IS 'People who work in the back office. tenant_id null: operators of the platform, whom no tenant sees.';

COMMENT ON COLUMN bff_backoffice.operators.status IS 'invited: has a link and no password yet; locked: after too many failures, until locked_until; disabled: until an admin enables them.';

COMMENT ON COLUMN bff_backoffice.operators.grant_hash IS 'Proof that the application wrote tenant, role, properties and status of this row: a hash of them under a key that is not in the database. A row without the right one lets nobody in.';

COMMENT ON COLUMN bff_backoffice.operators.email_hash IS 'Under the back office''s pepper: an operator is looked up before their tenant is known.';

COMMENT ON COLUMN bff_backoffice.operators.password_hash IS 'Argon2id, with its parameters and salt.';

COMMENT ON COLUMN bff_backoffice.operators.totp_ciphertext IS 'The secret of their authenticator.';

COMMENT ON COLUMN bff_backoffice.operators.totp_step IS 'The step of the last code that was used; none of it or before is taken again.';

COMMENT ON COLUMN bff_backoffice.operators.recovery_hashes IS 'Of the codes that are left; each works once.';

COMMENT ON COLUMN bff_backoffice.operators.failures IS 'Wrong passwords in a row, which anybody can give who knows the mail.';

COMMENT ON COLUMN bff_backoffice.operators.code_failures IS 'Wrong codes in a row, which take the password or a session; too many lock what asks for a code too.';

COMMENT ON COLUMN bff_backoffice.operators.link_hash IS 'Of the one link that works: of an invitation, or one that opens the console.';

COMMENT ON COLUMN bff_backoffice.operators.link_kind IS 'join: choose a password and an authenticator; open: opens a session at once.';

COMMENT ON COLUMN bff_backoffice.operators.erased_at IS 'When their personal data was removed; the id stays for the ledgers.';

COMMENT ON COLUMN bff_backoffice.operators.properties IS 'Ids of properties that they may see, as the systems call them that know properties; * alone: all of the tenant.';

COMMENT ON COLUMN bff_backoffice.operators.passkeys IS 'How many they have.';

CREATE TABLE bff_backoffice.outbox (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    ordering_key text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL,
    envelope text NOT NULL,
    enqueued_at timestamp with time zone DEFAULT now() NOT NULL,
    publish_attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    applied_by text COLLATE pg_catalog."C",
    CONSTRAINT ck_outbox_id CHECK (((id ~~ 'evt\_%'::text) AND (length(id) = 30)))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY bff_backoffice.outbox FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.outbox IS 'Events of the back office, written with the change they announce; the relay moves them to the bus.';

COMMENT ON COLUMN bff_backoffice.outbox.applied_by IS 'The consumer group that has applied it in the transaction that wrote it.';

ALTER TABLE bff_backoffice.outbox ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME bff_backoffice.outbox_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE bff_backoffice.passkey_challenges (
    challenge_hash text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    operator_id text COLLATE pg_catalog."C",
    purpose text NOT NULL COLLATE pg_catalog."C",
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_passkey_challenges_purpose CHECK ((purpose = ANY (ARRAY['register'::text, 'prove'::text, 'sign_in'::text])))
);

ALTER TABLE ONLY bff_backoffice.passkey_challenges FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.passkey_challenges IS 'What a passkey is to sign: each once, within five minutes. tenant_id null: somebody who is not signed in yet, or of the platform.';

CREATE TABLE bff_backoffice.passkeys (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    operator_id text NOT NULL COLLATE pg_catalog."C",
    credential_id text NOT NULL COLLATE pg_catalog."C",
    public_key bytea NOT NULL,
    proof_hash text NOT NULL COLLATE pg_catalog."C",
    sign_count bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    is_synced boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    CONSTRAINT ck_passkeys_id CHECK ((id ~ '^psk_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_passkeys_kind CHECK ((kind = ANY (ARRAY['this_device'::text, 'security_key'::text])))
);

ALTER TABLE ONLY bff_backoffice.passkeys FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.passkeys IS 'Passkeys by which operators prove themselves. tenant_id null: of operators of the platform.';

COMMENT ON COLUMN bff_backoffice.passkeys.proof_hash IS 'Proof that the application wrote whose key this is: a hash under a key that is not in the database. A row without the right one proves nothing.';

COMMENT ON COLUMN bff_backoffice.passkeys.sign_count IS 'As the authenticator counts; one that does not grow is a copy. 0: it does not count.';

COMMENT ON COLUMN bff_backoffice.passkeys.kind IS 'this_device: of a computer or telephone; security_key: a key of its own.';

CREATE TABLE bff_backoffice.sessions (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    operator_id text NOT NULL COLLATE pg_catalog."C",
    device_id text NOT NULL COLLATE pg_catalog."C",
    token_hash text NOT NULL COLLATE pg_catalog."C",
    ip_hash text COLLATE pg_catalog."C",
    fingerprint_hash text COLLATE pg_catalog."C",
    opened_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    ended_reason text COLLATE pg_catalog."C",
    CONSTRAINT ck_sessions_ended CHECK (((ended_at IS NULL) = (ended_reason IS NULL))),
    CONSTRAINT ck_sessions_id CHECK ((id ~ '^bos_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_sessions_reason CHECK ((ended_reason = ANY (ARRAY['signed_out'::text, 'revoked'::text, 'forced_out'::text, 'replaced'::text, 'other_device'::text, 'operator_changed'::text])))
);

ALTER TABLE ONLY bff_backoffice.sessions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE bff_backoffice.sessions IS 'Sessions of operators: 12 hours, one for each device. tenant_id null: of operators of the platform.';

COMMENT ON COLUMN bff_backoffice.sessions.token_hash IS 'Of the secret in the session''s cookie together with id, tenant, operator, device and end, under the back office''s pepper.';

COMMENT ON COLUMN bff_backoffice.sessions.ip_hash IS 'Peppered; the raw address is not kept.';

COMMENT ON COLUMN bff_backoffice.sessions.fingerprint_hash IS 'Of what the browser calls itself, peppered.';

COMMENT ON COLUMN bff_backoffice.sessions.ended_reason IS 'replaced: a new sign-in on the device; other_device: the token came with another device''s secret, or none; operator_changed: disabled, reset or erased.';

CREATE TABLE chan.account_secrets (
    tenant_id text COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    box bytea NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    updated_by text NOT NULL,
    CONSTRAINT ck_account_secrets_box CHECK ((length(box) <= 70000)),
    CONSTRAINT ck_account_secrets_name CHECK ((name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'::text))
);

ALTER TABLE ONLY chan.account_secrets FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.account_secrets IS 'Settings and credentials of vendor accounts that were entered over the API; accounts name them as sealed://name. tenant_id null: the platform''s.';

COMMENT ON COLUMN chan.account_secrets.name IS 'Not personal: what the owner calls the secret, such as smtp.';

COMMENT ON COLUMN chan.account_secrets.box IS 'Sealed under a key of its own of the tenant''s (subject secret/name), or under the platform key account_secrets.';

COMMENT ON COLUMN chan.account_secrets.updated_by IS 'The actor: an API key or an operator, never a person''s address.';

CREATE TABLE chan.adapter_status_map (
    tenant_id text COLLATE pg_catalog."C",
    adapter text NOT NULL COLLATE pg_catalog."C",
    provider_code text NOT NULL COLLATE pg_catalog."C",
    canonical text NOT NULL,
    reason text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    history jsonb DEFAULT '[]'::jsonb NOT NULL,
    updated_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_adapter_status_map_adapter CHECK ((adapter ~ '^[a-z][a-z0-9_]{1,62}$'::text)),
    CONSTRAINT ck_adapter_status_map_canonical CHECK ((canonical = ANY (ARRAY['accepted'::text, 'sent'::text, 'delivered'::text, 'delivered_read'::text, 'failed_temp'::text, 'failed_perm'::text, 'rejected_by_provider'::text, 'rejected_by_recipient'::text, 'timed_out'::text, 'cancelled'::text, 'bounced'::text, 'complaint'::text, 'opened'::text, 'clicked'::text]))),
    CONSTRAINT ck_adapter_status_map_history CHECK ((jsonb_typeof(history) = 'array'::text))
);

ALTER TABLE ONLY chan.adapter_status_map REPLICA IDENTITY FULL;

ALTER TABLE ONLY chan.adapter_status_map FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.adapter_status_map IS 'Provider code to canonical status. tenant_id null: for all; a tenant''s own row wins for its own attempts.';

COMMENT ON COLUMN chan.adapter_status_map.history IS 'Earlier versions: version, canonical, reason, until, by.';

CREATE TABLE chan.audit (
    tenant_id text COLLATE pg_catalog."C",
    entity_type text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    occurred_at timestamp with time zone NOT NULL,
    entity_id text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL COLLATE pg_catalog."C",
    before text,
    after text,
    ip_hash text COLLATE pg_catalog."C",
    user_agent_hash text COLLATE pg_catalog."C",
    trace_id text COLLATE pg_catalog."C",
    reason text,
    prev_hash text COLLATE pg_catalog."C",
    record_hash text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT ck_audit_action CHECK ((action ~ '^[a-z][a-z0-9_.]{1,62}$'::text)),
    CONSTRAINT ck_audit_entity_type CHECK ((entity_type ~ '^[a-z][a-z0-9_]{1,62}$'::text)),
    CONSTRAINT ck_audit_first CHECK (((seq = 1) = (prev_hash IS NULL))),
    CONSTRAINT ck_audit_id CHECK ((id ~ '^chan_audit_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_audit_prev_hash CHECK ((prev_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_audit_record_hash CHECK ((record_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_audit_seq CHECK ((seq >= 1))
)
PARTITION BY RANGE (occurred_at);

ALTER TABLE ONLY chan.audit FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.audit IS 'Who or what changed policies, adapters, routes, sessions, profiles and circuits, append-only and hash-chained.';

COMMENT ON COLUMN chan.audit.seq IS 'Counts from 1 within tenant and entity type, without gaps.';

COMMENT ON COLUMN chan.audit.occurred_at IS 'The time inside the id; never earlier than the stream''s previous row.';

COMMENT ON COLUMN chan.audit.before IS 'JSON, redacted: no address, body or secret.';

COMMENT ON COLUMN chan.audit.after IS 'JSON, redacted: no address, body or secret.';

COMMENT ON COLUMN chan.audit.ip_hash IS 'Peppered; the raw address is not kept.';

COMMENT ON COLUMN chan.audit.record_hash IS 'Hex sha256 over every other column, prev_hash included; the form is in kernel/audit/record.py.';

CREATE TABLE chan.audit_heads (
    tenant_id text COLLATE pg_catalog."C",
    entity_type text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    record_hash text COLLATE pg_catalog."C",
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_audit_heads_seq CHECK ((seq >= 0))
)
WITH (fillfactor='50');

ALTER TABLE ONLY chan.audit_heads REPLICA IDENTITY FULL;

ALTER TABLE ONLY chan.audit_heads FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.audit_heads IS 'The last row of every audit stream: appenders lock it, and a cut-off tail is seen by it.';

CREATE TABLE chan.channel_adapter_configs (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    phone_number_id_or_handle text COLLATE pg_catalog."C",
    secret_ref text NOT NULL,
    circuit_state text DEFAULT 'CLOSED'::text NOT NULL,
    circuit_opened_at timestamp with time zone,
    rate_limit_per_second integer,
    rate_limit_per_day integer,
    pricing_model jsonb NOT NULL,
    active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    circuit_version integer DEFAULT 0 NOT NULL,
    circuit_changed_at timestamp with time zone,
    circuit_until timestamp with time zone,
    circuit_openings integer DEFAULT 0 NOT NULL,
    circuit_prober text COLLATE pg_catalog."C",
    circuit_reason text,
    circuit_held boolean DEFAULT false NOT NULL,
    circuit_held_until timestamp with time zone,
    circuit_held_reason text,
    CONSTRAINT ck_channel_adapter_configs_circuit CHECK ((circuit_state = ANY (ARRAY['CLOSED'::text, 'OPEN'::text, 'HALF_OPEN'::text]))),
    CONSTRAINT ck_channel_adapter_configs_id CHECK ((id ~ '^adcfg_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_channel_adapter_configs_limits CHECK (((rate_limit_per_second > 0) AND (rate_limit_per_day > 0))),
    CONSTRAINT ck_channel_adapter_configs_provider CHECK ((provider ~ '^[a-z][a-z0-9_]{1,62}$'::text)),
    CONSTRAINT ck_channel_adapter_configs_secret_ref CHECK ((secret_ref ~ '^[a-z][a-z0-9+.-]*://'::text))
);

ALTER TABLE ONLY chan.channel_adapter_configs FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.channel_adapter_configs IS 'Vendor accounts. tenant_id null: the platform''s, usable by all tenants.';

COMMENT ON COLUMN chan.channel_adapter_configs.provider IS 'Name in the adapter registry. No list here: a new adapter is one file and no migration.';

COMMENT ON COLUMN chan.channel_adapter_configs.secret_ref IS 'A reference (file://, env://, vault://…), never the secret.';

COMMENT ON COLUMN chan.channel_adapter_configs.circuit_opened_at IS 'Since when not all of its traffic goes through; null while closed.';

COMMENT ON COLUMN chan.channel_adapter_configs.pricing_model IS 'Base, per segment, per minute…, in micros and a currency.';

COMMENT ON COLUMN chan.channel_adapter_configs.circuit_version IS 'Grows with every change; 0: the circuit never changed.';

COMMENT ON COLUMN chan.channel_adapter_configs.circuit_until IS 'OPEN: from when on it may be tried again; null: not before somebody says so.';

COMMENT ON COLUMN chan.channel_adapter_configs.circuit_openings IS 'How often it opened since it was closed last; the pause doubles each time.';

COMMENT ON COLUMN chan.channel_adapter_configs.circuit_prober IS 'HALF_OPEN: the process whose probes go through.';

COMMENT ON COLUMN chan.channel_adapter_configs.circuit_held IS 'A person holds it in its state, whatever is counted.';

CREATE UNLOGGED TABLE chan.circuit_counts (
    account_id text NOT NULL COLLATE pg_catalog."C",
    bucket timestamp with time zone NOT NULL,
    prefix text NOT NULL COLLATE pg_catalog."C",
    era integer NOT NULL,
    worker text NOT NULL COLLATE pg_catalog."C",
    ok bigint NOT NULL,
    failed bigint NOT NULL,
    slow bigint NOT NULL,
    seconds double precision NOT NULL,
    CONSTRAINT ck_circuit_counts_counts CHECK (((ok >= 0) AND (failed >= 0) AND ((slow >= 0) AND (slow <= (ok + failed)))))
)
WITH (fillfactor='50');

ALTER TABLE ONLY chan.circuit_counts FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.circuit_counts IS 'Answers of vendors in the last minutes, by account, country and process; numbers alone.';

COMMENT ON COLUMN chan.circuit_counts.bucket IS 'The beginning of ten seconds.';

COMMENT ON COLUMN chan.circuit_counts.prefix IS 'The calling code of the numbers written to; empty for addresses without one.';

COMMENT ON COLUMN chan.circuit_counts.era IS 'The version of the circuit under which they were answered; -1: begun before it opened.';

CREATE TABLE chan.consumed_events (
    consumer_name text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    consumed_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone DEFAULT (now() + '30 days'::interval) NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY chan.consumed_events FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.consumed_events IS 'Which consumer has applied which event; outlives the bus and its dead letters.';

CREATE TABLE chan.conversation_messages (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL,
    occurred_at timestamp with time zone,
    next_attempt_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    direction text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    reason text,
    keyword text,
    keyword_action text COLLATE pg_catalog."C",
    language text COLLATE pg_catalog."C",
    notification_id text COLLATE pg_catalog."C",
    vendor text COLLATE pg_catalog."C",
    account_id text COLLATE pg_catalog."C",
    provider_id text COLLATE pg_catalog."C",
    claimed_by text COLLATE pg_catalog."C",
    key_subject text COLLATE pg_catalog."C",
    text_ciphertext bytea,
    CONSTRAINT ck_conversation_messages_action CHECK ((keyword_action = ANY (ARRAY['stop'::text, 'start'::text, 'help'::text]))),
    CONSTRAINT ck_conversation_messages_direction CHECK ((direction = ANY (ARRAY['in'::text, 'out'::text]))),
    CONSTRAINT ck_conversation_messages_id CHECK ((((id ~~ 'mo\_%'::text) OR (id ~~ 'mt\_%'::text)) AND (length(id) = 29))),
    CONSTRAINT ck_conversation_messages_queued CHECK (((status = 'queued'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT ck_conversation_messages_status CHECK ((status = ANY (ARRAY['received'::text, 'queued'::text, 'sending'::text, 'sent'::text, 'failed'::text, 'unlearned'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY chan.conversation_messages FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.conversation_messages IS 'The transcript of conversations: what they wrote, that we wrote, and the confirmations of keywords, which are sent from here.';

COMMENT ON COLUMN chan.conversation_messages.id IS 'mo_…: of the inbound message, so that it is taken once. mt_…: of one of ours.';

COMMENT ON COLUMN chan.conversation_messages.kind IS 'text, button, image, …; notification; stop_confirmation, start_confirmation, help.';

COMMENT ON COLUMN chan.conversation_messages.status IS 'received: theirs. A confirmation is queued, then sending, and then sent, failed, or unlearned; it never goes twice.';

COMMENT ON COLUMN chan.conversation_messages.keyword IS 'The word of our lists that it was; never the text.';

COMMENT ON COLUMN chan.conversation_messages.notification_id IS 'A message of ours has its words in its notification.';

COMMENT ON COLUMN chan.conversation_messages.provider_id IS 'How the vendor calls it.';

COMMENT ON COLUMN chan.conversation_messages.text_ciphertext IS 'Under the data key of key_subject: the recipient''s, or the conversation''s own where nobody was known. Null: there are no words, or they were erased.';

CREATE TABLE chan.conversations (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    sender_id text NOT NULL COLLATE pg_catalog."C",
    address_hash text COLLATE pg_catalog."C",
    recipient_id text COLLATE pg_catalog."C",
    channel text NOT NULL,
    status text DEFAULT 'OPEN'::text NOT NULL,
    turn_count integer DEFAULT 0 NOT NULL,
    last_mt_message_id text COLLATE pg_catalog."C",
    last_mo_message_id text COLLATE pg_catalog."C",
    opened_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    close_reason text,
    version integer DEFAULT 1 NOT NULL,
    platform_hash text COLLATE pg_catalog."C",
    vendor text COLLATE pg_catalog."C",
    account_id text COLLATE pg_catalog."C",
    use_case text COLLATE pg_catalog."C",
    opened_by text DEFAULT 'in'::text NOT NULL COLLATE pg_catalog."C",
    ttl_seconds integer DEFAULT 86400 NOT NULL,
    last_mo_at timestamp with time zone,
    last_mt_at timestamp with time zone,
    key_subject text COLLATE pg_catalog."C",
    address_ciphertext bytea,
    CONSTRAINT ck_conversations_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_conversations_closed CHECK (((status = 'OPEN'::text) = (closed_at IS NULL))),
    CONSTRAINT ck_conversations_hash CHECK ((address_hash ~ '^sha256:[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_conversations_id CHECK ((id ~ '^conv_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_conversations_status CHECK ((status = ANY (ARRAY['OPEN'::text, 'CLOSED_STOP'::text, 'CLOSED_IDLE'::text, 'CLOSED_MANUAL'::text])))
);

ALTER TABLE ONLY chan.conversations FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.conversations IS 'Conversations between a sender of the tenant and an address; sliding end.';

COMMENT ON COLUMN chan.conversations.sender_id IS 'Short code, number or handle of the tenant''s side.';

COMMENT ON COLUMN chan.conversations.address_hash IS 'The other side, under the tenant''s pepper; a phone or a chat id.';

COMMENT ON COLUMN chan.conversations.last_mt_message_id IS 'Last message to them; last_mo_message_id is the last from them.';

COMMENT ON COLUMN chan.conversations.platform_hash IS 'The other side under the platform''s pepper: how a shared account''s messages find their tenant.';

COMMENT ON COLUMN chan.conversations.account_id IS 'The vendor account over which the last message came or went; vendor is its name.';

COMMENT ON COLUMN chan.conversations.use_case IS 'Of the message that began it, whose policy says what STOP is; null where they began.';

COMMENT ON COLUMN chan.conversations.opened_by IS 'in: they wrote first; out: we did.';

COMMENT ON COLUMN chan.conversations.ttl_seconds IS 'It ends when nobody has said anything for so long.';

COMMENT ON COLUMN chan.conversations.address_ciphertext IS 'The other side, under the data key of key_subject: the recipient''s, or its own.';

CREATE TABLE chan.delivery_attempt_events (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    recorded_at timestamp with time zone NOT NULL,
    occurred_at timestamp with time zone,
    cost_micros bigint,
    late boolean DEFAULT false NOT NULL,
    attempt_id text NOT NULL COLLATE pg_catalog."C",
    execution_id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    provider_code text COLLATE pg_catalog."C",
    reason text,
    cost_currency text COLLATE pg_catalog."C",
    CONSTRAINT ck_delivery_attempt_events_currency CHECK ((cost_currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT ck_delivery_attempt_events_status CHECK ((status = ANY (ARRAY['accepted'::text, 'sent'::text, 'delivered'::text, 'delivered_read'::text, 'failed_temp'::text, 'failed_perm'::text, 'rejected_by_provider'::text, 'rejected_by_recipient'::text, 'step_skipped'::text, 'timed_out'::text, 'cancelled'::text, 'bounced'::text, 'complaint'::text, 'opened'::text, 'clicked'::text, 'unknown'::text])))
)
PARTITION BY RANGE (recorded_at);

ALTER TABLE ONLY chan.delivery_attempt_events FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.delivery_attempt_events IS 'Append-only: what vendors, and our own clock, said about an attempt afterwards.';

COMMENT ON COLUMN chan.delivery_attempt_events.id IS 'The whe_ id of the vendor event, so that it is taken once; an evt_ id where our clock says it.';

COMMENT ON COLUMN chan.delivery_attempt_events.recorded_at IS 'The time inside the id.';

COMMENT ON COLUMN chan.delivery_attempt_events.late IS 'The step had been given up: recorded, never billed or reported twice.';

COMMENT ON COLUMN chan.delivery_attempt_events.provider_code IS 'The vendor''s code; of an unknown event without one its word, so that it can be given a meaning.';

CREATE TABLE chan.delivery_attempts (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    terminated_at timestamp with time zone,
    cost_micros bigint DEFAULT 0 NOT NULL,
    step_index integer NOT NULL,
    duration_ms integer,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    adapter_config_id text COLLATE pg_catalog."C",
    provider text COLLATE pg_catalog."C",
    provider_message_id text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    reason text,
    cost_currency text COLLATE pg_catalog."C",
    raw_payload_ref text,
    meaning text COLLATE pg_catalog."C",
    http_status integer,
    retry_after_ms integer,
    error_message text,
    address_hash text COLLATE pg_catalog."C",
    address_ciphertext bytea,
    sender text,
    content_digest text COLLATE pg_catalog."C",
    CONSTRAINT ck_delivery_attempts_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_delivery_attempts_currency CHECK ((cost_currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT ck_delivery_attempts_id CHECK (((id ~~ 'attempt\_%'::text) AND (length(id) = 34))),
    CONSTRAINT ck_delivery_attempts_status CHECK ((status = ANY (ARRAY['accepted'::text, 'sent'::text, 'delivered'::text, 'delivered_read'::text, 'failed_temp'::text, 'failed_perm'::text, 'rejected_by_provider'::text, 'rejected_by_recipient'::text, 'step_skipped'::text, 'timed_out'::text, 'cancelled'::text])))
)
PARTITION BY RANGE (started_at);

ALTER TABLE ONLY chan.delivery_attempts FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.delivery_attempts IS 'Append-only: one row per vendor call or skipped step, as it ended. Later news are events.';

COMMENT ON COLUMN chan.delivery_attempts.started_at IS 'The time inside the id.';

COMMENT ON COLUMN chan.delivery_attempts.execution_id IS 'The ladder. Of a confirmation in a conversation the line of the transcript (mt_…): it has no ladder.';

COMMENT ON COLUMN chan.delivery_attempts.status IS 'What the call itself came to; receipts are in delivery_attempt_events.';

COMMENT ON COLUMN chan.delivery_attempts.reason IS 'A code: the vendor''s, or one of ours.';

COMMENT ON COLUMN chan.delivery_attempts.raw_payload_ref IS 'What the vendor answered: an object in the blob store and a place in it, sealed under the person''s key; kept 30 days.';

COMMENT ON COLUMN chan.delivery_attempts.meaning IS 'What the vendor''s code means by the status map as it was then: a word of ours. Null: nobody has said.';

COMMENT ON COLUMN chan.delivery_attempts.http_status IS 'Of the vendor''s answer; null where it did not come over HTTP.';

COMMENT ON COLUMN chan.delivery_attempts.retry_after_ms IS 'How long the vendor wanted to be left alone.';

COMMENT ON COLUMN chan.delivery_attempts.error_message IS 'What the vendor said, in short. Redacted: no address, no body.';

COMMENT ON COLUMN chan.delivery_attempts.address_hash IS 'Where it went, under the tenant''s pepper; of several devices one each, with a space between them.';

COMMENT ON COLUMN chan.delivery_attempts.address_ciphertext IS 'JSON list under the key of the person who was written to: erasing them makes it unreadable.';

COMMENT ON COLUMN chan.delivery_attempts.sender IS 'JSON: the sender as it was handed to the vendor; adapter_config_id is the account.';

COMMENT ON COLUMN chan.delivery_attempts.content_digest IS 'Of what was rendered, under the tenant''s pepper.';

CREATE TABLE chan.delivery_inbox (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    notification_id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone DEFAULT (now() + '30 days'::interval) NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY chan.delivery_inbox FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.delivery_inbox IS 'Hand-overs that the router has taken from the bus, by their notification: one that is announced again begins no second execution.';

COMMENT ON COLUMN chan.delivery_inbox.message_id IS 'The notification: there is one hand-over for each.';

CREATE TABLE chan.delivery_outbox (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    notification_id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    execution_id text NOT NULL COLLATE pg_catalog."C",
    subject text DEFAULT 'notification.delivery.outcome.v1'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone DEFAULT (now() + '30 days'::interval) NOT NULL,
    CONSTRAINT ck_delivery_outbox_event_id CHECK (((event_id ~~ 'evt\_%'::text) AND (length(event_id) = 30)))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY chan.delivery_outbox FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.delivery_outbox IS 'Proof that an outcome was announced: written with the outbox row, once per notification and recipient.';

COMMENT ON COLUMN chan.delivery_outbox.event_id IS 'The event in chan.outbox, which carries the payload.';

CREATE TABLE chan.erased_executions (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    execution_id text NOT NULL COLLATE pg_catalog."C",
    erased_at timestamp with time zone NOT NULL,
    pending boolean DEFAULT true NOT NULL,
    CONSTRAINT ck_erased_executions_id CHECK (((execution_id ~~ 'exec\_%'::text) AND (length(execution_id) = 31)))
);

ALTER TABLE ONLY chan.erased_executions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.erased_executions IS 'Ladders to people who were erased: no raw body of a callback about them is kept. Swept when no callback can find them.';

COMMENT ON COLUMN chan.erased_executions.pending IS 'The bodies that had come before the erasure are still to be destroyed.';

CREATE TABLE chan.error_statistics (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    channel text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    code text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL
)
WITH (fillfactor='70');

ALTER TABLE ONLY chan.error_statistics FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.error_statistics IS 'Calls that came to nothing and steps that were skipped, by day (UTC) and code.';

COMMENT ON COLUMN chan.error_statistics.vendor IS 'Empty for a step that called none.';

COMMENT ON COLUMN chan.error_statistics.code IS 'The vendor''s, or one of ours; its first 64 characters.';

CREATE TABLE chan.executions_live (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    due_at timestamp with time zone NOT NULL,
    cost_cap_micros bigint,
    cost_reserved_micros bigint DEFAULT 0 NOT NULL,
    cost_spent_micros bigint DEFAULT 0 NOT NULL,
    policy_version integer,
    version integer DEFAULT 1 NOT NULL,
    receipts integer DEFAULT 0 NOT NULL,
    is_test boolean DEFAULT false NOT NULL,
    notification_id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    use_case text NOT NULL COLLATE pg_catalog."C",
    priority text DEFAULT 'normal'::text NOT NULL COLLATE pg_catalog."C",
    strategy text NOT NULL COLLATE pg_catalog."C",
    policy_id text COLLATE pg_catalog."C",
    ladder_snapshot text NOT NULL,
    state text NOT NULL,
    cost_currency text COLLATE pg_catalog."C",
    claimed_by text COLLATE pg_catalog."C",
    trace_id text COLLATE pg_catalog."C",
    traceparent text COLLATE pg_catalog."C",
    waits_for text COLLATE pg_catalog."C",
    CONSTRAINT ck_executions_live_cost CHECK (((cost_reserved_micros >= 0) AND (cost_spent_micros >= 0) AND ((cost_cap_micros IS NULL) OR ((cost_reserved_micros + cost_spent_micros) <= cost_cap_micros)))),
    CONSTRAINT ck_executions_live_currency CHECK ((cost_currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT ck_executions_live_id CHECK (((id ~~ 'exec\_%'::text) AND (length(id) = 31))),
    CONSTRAINT ck_executions_live_priority CHECK ((priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_executions_live_strategy CHECK ((strategy = ANY (ARRAY['SEQUENTIAL'::text, 'PARALLEL'::text, 'FAILOVER'::text]))),
    CONSTRAINT ck_executions_live_use_case CHECK ((use_case = ANY (ARRAY['otp'::text, 'txn'::text, 'marketing'::text, 'alert'::text, 'conversational'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY chan.executions_live FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.executions_live IS 'Ladders in progress: one per notification and recipient. Ended ones move to fallback_executions.';

COMMENT ON COLUMN chan.executions_live.due_at IS 'When somebody has to look at it again: a retry, a deadline, or at once.';

COMMENT ON COLUMN chan.executions_live.cost_reserved_micros IS 'Worst case of the steps under way, settled when they end.';

COMMENT ON COLUMN chan.executions_live.version IS 'Grows with every write and with every receipt, so that whoever has it in hand learns of news before it writes.';

COMMENT ON COLUMN chan.executions_live.receipts IS 'How many were heard of; where there are none, none are read.';

COMMENT ON COLUMN chan.executions_live.ladder_snapshot IS 'JSON: the ladder as frozen at the start, its order and why.';

COMMENT ON COLUMN chan.executions_live.state IS 'JSON: the steps under way, with vendor calls noted before they are made, and all calls and skipped steps so far.';

COMMENT ON COLUMN chan.executions_live.claimed_by IS 'The worker that has it in hand; freed when that one dies.';

COMMENT ON COLUMN chan.executions_live.trace_id IS 'The trace of the request that ordered the notification.';

COMMENT ON COLUMN chan.executions_live.traceparent IS 'As handed over; its trace_id goes into the history.';

COMMENT ON COLUMN chan.executions_live.waits_for IS 'circuit_open, while a step of it waits for that; null otherwise.';

CREATE TABLE chan.fallback_executions (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    terminated_at timestamp with time zone NOT NULL,
    total_cost_micros bigint DEFAULT 0 NOT NULL,
    policy_version integer,
    notification_id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    use_case text NOT NULL COLLATE pg_catalog."C",
    strategy text NOT NULL COLLATE pg_catalog."C",
    policy_id text COLLATE pg_catalog."C",
    ladder_snapshot text NOT NULL,
    final_channel text COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    evidence text COLLATE pg_catalog."C",
    cost_currency text COLLATE pg_catalog."C",
    fallback_path text DEFAULT '[]'::text NOT NULL,
    trace_id text COLLATE pg_catalog."C",
    recorded_in bigint DEFAULT ((pg_current_xact_id())::text)::bigint,
    CONSTRAINT ck_fallback_executions_currency CHECK ((cost_currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT ck_fallback_executions_evidence CHECK ((evidence = ANY (ARRAY['accepted'::text, 'sent'::text, 'delivered'::text, 'read'::text]))),
    CONSTRAINT ck_fallback_executions_id CHECK (((id ~~ 'exec\_%'::text) AND (length(id) = 31))),
    CONSTRAINT ck_fallback_executions_outcome CHECK ((outcome = ANY (ARRAY['DELIVERED'::text, 'FAILED'::text, 'REFUSED_NO_CHANNEL'::text, 'REFUSED_COST_CAP'::text, 'REFUSED_CONSENT'::text, 'REFUSED_SENDER_UNAUTHORIZED'::text]))),
    CONSTRAINT ck_fallback_executions_strategy CHECK ((strategy = ANY (ARRAY['SEQUENTIAL'::text, 'PARALLEL'::text, 'FAILOVER'::text]))),
    CONSTRAINT ck_fallback_executions_use_case CHECK ((use_case = ANY (ARRAY['otp'::text, 'txn'::text, 'marketing'::text, 'alert'::text, 'conversational'::text])))
)
PARTITION BY RANGE (started_at);

ALTER TABLE ONLY chan.fallback_executions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.fallback_executions IS 'Append-only history of ended ladders: exactly one outcome each.';

COMMENT ON COLUMN chan.fallback_executions.started_at IS 'The time inside the id.';

COMMENT ON COLUMN chan.fallback_executions.evidence IS 'What DELIVERED rests on; accepted where the channel has no receipts.';

COMMENT ON COLUMN chan.fallback_executions.trace_id IS 'The trace of the request that ordered the notification.';

COMMENT ON COLUMN chan.fallback_executions.recorded_in IS 'The transaction that wrote it: what reads the history in turn misses none that commits late. Null: of before statistics.';

CREATE TABLE chan.fallback_policies (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    use_case text NOT NULL,
    strategy text DEFAULT 'SEQUENTIAL'::text NOT NULL,
    ladder_order text DEFAULT 'fixed'::text NOT NULL,
    cost_cap_micros bigint,
    cost_cap_currency text NOT NULL COLLATE pg_catalog."C",
    session_ttl_seconds integer DEFAULT 86400 NOT NULL,
    ladder jsonb NOT NULL,
    description text,
    stop_keywords_override text[] DEFAULT ARRAY[]::text[] NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_by text NOT NULL,
    updated_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    grace_period_ends_at timestamp with time zone,
    value_of_a_second bigint,
    CONSTRAINT ck_fallback_policies_cost_cap CHECK ((cost_cap_micros >= 0)),
    CONSTRAINT ck_fallback_policies_currency CHECK ((cost_cap_currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT ck_fallback_policies_id CHECK ((id ~ '^policy_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_fallback_policies_ladder CHECK ((jsonb_typeof(ladder) = 'array'::text)),
    CONSTRAINT ck_fallback_policies_order CHECK ((ladder_order = ANY (ARRAY['fixed'::text, 'learned'::text, 'cheapest'::text]))),
    CONSTRAINT ck_fallback_policies_session_ttl CHECK ((session_ttl_seconds > 0)),
    CONSTRAINT ck_fallback_policies_strategy CHECK ((strategy = ANY (ARRAY['SEQUENTIAL'::text, 'PARALLEL'::text, 'FAILOVER'::text]))),
    CONSTRAINT ck_fallback_policies_use_case CHECK ((use_case = ANY (ARRAY['otp'::text, 'txn'::text, 'marketing'::text, 'alert'::text, 'conversational'::text]))),
    CONSTRAINT ck_fallback_policies_value_of_a_second CHECK ((value_of_a_second >= 0))
);

ALTER TABLE ONLY chan.fallback_policies FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.fallback_policies IS 'A tenant''s ladder for a use case: steps, deadlines, cost cap, STOP words.';

COMMENT ON COLUMN chan.fallback_policies.cost_cap_micros IS 'Per message: reserved plus spent never passes it. Null: no cap.';

COMMENT ON COLUMN chan.fallback_policies.cost_cap_currency IS 'Of the cap; costs are summed in it.';

COMMENT ON COLUMN chan.fallback_policies.ladder IS 'Steps: channel, deadline seconds, retry budget, conditions, what counts as success.';

COMMENT ON COLUMN chan.fallback_policies.description IS 'For people.';

COMMENT ON COLUMN chan.fallback_policies.deleted_at IS 'Soft delete: new messages do not go by it, those under way finish by their frozen ladder.';

COMMENT ON COLUMN chan.fallback_policies.grace_period_ends_at IS 'Until then a deleted one can be restored.';

COMMENT ON COLUMN chan.fallback_policies.value_of_a_second IS 'What a second of waiting costs where the order is learned, in micros of the currency. Null: the use case''s own.';

CREATE TABLE chan.fallback_policy_versions (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    policy_id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    snapshot text NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY chan.fallback_policy_versions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.fallback_policy_versions IS 'Every version a policy had, as it was.';

COMMENT ON COLUMN chan.fallback_policy_versions.snapshot IS 'JSON of the whole policy.';

CREATE TABLE chan.inbound_deliveries (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    route_id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT now(),
    delivered_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_status integer,
    status text DEFAULT 'pending'::text NOT NULL COLLATE pg_catalog."C",
    last_reason text,
    claimed_by text COLLATE pg_catalog."C",
    CONSTRAINT ck_inbound_deliveries_id CHECK (((id ~~ 'ibd\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_inbound_deliveries_pending CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT ck_inbound_deliveries_status CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY chan.inbound_deliveries FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.inbound_deliveries IS 'Inbound messages on their way to their tenant''s webhook. What is told is made of the transcript when it is sent.';

COMMENT ON COLUMN chan.inbound_deliveries.last_reason IS 'What the last try came to, in our words.';

COMMENT ON COLUMN chan.inbound_deliveries.claimed_by IS 'The worker that has it in hand; freed when that one dies.';

CREATE TABLE chan.inbound_messages (
    id text NOT NULL COLLATE pg_catalog."C",
    received_at timestamp with time zone NOT NULL,
    tenant_id text COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    adapter text NOT NULL COLLATE pg_catalog."C",
    vendor_message_id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    destination text NOT NULL COLLATE pg_catalog."C",
    payload_ciphertext bytea,
    status text DEFAULT 'queued'::text NOT NULL COLLATE pg_catalog."C",
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_inbound_messages_id CHECK (((id ~~ 'mo\_%'::text) AND (length(id) = 29))),
    CONSTRAINT ck_inbound_messages_status CHECK ((status = ANY (ARRAY['queued'::text, 'applied'::text, 'unmatched'::text, 'dead'::text])))
);

ALTER TABLE ONLY chan.inbound_messages FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.inbound_messages IS 'Messages from people, from the vendor''s request until they stand in a conversation.';

COMMENT ON COLUMN chan.inbound_messages.received_at IS 'The time inside the id.';

COMMENT ON COLUMN chan.inbound_messages.tenant_id IS 'Null until known; from then on the tenant may read the row.';

COMMENT ON COLUMN chan.inbound_messages.adapter IS 'The account that was written to.';

COMMENT ON COLUMN chan.inbound_messages.destination IS 'Short code, number or handle that was written to, in its one spelling.';

COMMENT ON COLUMN chan.inbound_messages.payload_ciphertext IS 'Who wrote what, under a platform key; removed as soon as it stands in the transcript, or nobody''s it is.';

CREATE TABLE chan.inbound_unmatched (
    destination text NOT NULL COLLATE pg_catalog."C",
    bucket timestamp with time zone NOT NULL,
    messages bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY chan.inbound_unmatched FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.inbound_unmatched IS 'How many messages were nobody''s, by destination and minute; nothing about who wrote.';

COMMENT ON COLUMN chan.inbound_unmatched.bucket IS 'The beginning of a minute.';

CREATE TABLE chan.outbox (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    ordering_key text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL,
    envelope text NOT NULL,
    enqueued_at timestamp with time zone DEFAULT now() NOT NULL,
    publish_attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    applied_by text COLLATE pg_catalog."C",
    CONSTRAINT ck_outbox_id CHECK (((id ~~ 'evt\_%'::text) AND (length(id) = 30)))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY chan.outbox FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.outbox IS 'Events of the router, written with the change they announce; the relay moves them to the bus.';

COMMENT ON COLUMN chan.outbox.applied_by IS 'The consumer group that has applied it in the transaction that wrote it.';

ALTER TABLE chan.outbox ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME chan.outbox_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE chan.outcome_statistics (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    hour timestamp with time zone NOT NULL,
    use_case text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL
)
WITH (fillfactor='70');

ALTER TABLE ONLY chan.outcome_statistics FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.outcome_statistics IS 'How executions ended, by the hour in which they did; older ones by the day.';

COMMENT ON COLUMN chan.outcome_statistics.channel IS 'The one that it ended on; empty where none was called.';

CREATE TABLE chan.recipient_profiles (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    channel_preferences jsonb DEFAULT '[]'::jsonb NOT NULL,
    has_whatsapp_business text DEFAULT 'UNKNOWN'::text NOT NULL,
    voice_otp_supported text DEFAULT 'UNKNOWN'::text NOT NULL,
    telegram_chat_id_hash text COLLATE pg_catalog."C",
    telegram_chat_id_ciphertext bytea,
    viber_id_hash text COLLATE pg_catalog."C",
    viber_id_ciphertext bytea,
    email_verified boolean DEFAULT false NOT NULL,
    last_successful_channel text,
    last_observed_at timestamp with time zone,
    discovery_state text DEFAULT 'UNSEEN'::text NOT NULL,
    field_times jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    erased boolean DEFAULT false NOT NULL,
    CONSTRAINT ck_recipient_profiles_channel CHECK ((last_successful_channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_recipient_profiles_discovery CHECK ((discovery_state = ANY (ARRAY['UNSEEN'::text, 'LEARNING'::text, 'STABLE'::text]))),
    CONSTRAINT ck_recipient_profiles_erased CHECK (((NOT erased) OR ((channel_preferences = '[]'::jsonb) AND (field_times = '{}'::jsonb) AND (discovery_state = 'UNSEEN'::text) AND (has_whatsapp_business = 'UNKNOWN'::text) AND (voice_otp_supported = 'UNKNOWN'::text) AND (NOT email_verified) AND (telegram_chat_id_hash IS NULL) AND (telegram_chat_id_ciphertext IS NULL) AND (viber_id_hash IS NULL) AND (viber_id_ciphertext IS NULL) AND (last_successful_channel IS NULL) AND (last_observed_at IS NULL)))),
    CONSTRAINT ck_recipient_profiles_id CHECK ((id ~ '^profile_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_recipient_profiles_voice CHECK ((voice_otp_supported = ANY (ARRAY['KNOWN_YES'::text, 'KNOWN_NO'::text, 'UNKNOWN'::text]))),
    CONSTRAINT ck_recipient_profiles_whatsapp CHECK ((has_whatsapp_business = ANY (ARRAY['KNOWN_YES'::text, 'KNOWN_NO'::text, 'UNKNOWN'::text])))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY chan.recipient_profiles FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.recipient_profiles IS 'Per recipient: how well each channel reaches them, learned from outcomes.';

COMMENT ON COLUMN chan.recipient_profiles.recipient_id IS 'Notify''s recipient; no foreign key across services.';

COMMENT ON COLUMN chan.recipient_profiles.channel_preferences IS 'List of channel, a and b of its Beta distribution, their score and confidence then, how often and when last observed.';

COMMENT ON COLUMN chan.recipient_profiles.telegram_chat_id_ciphertext IS 'Under the recipient''s data key.';

COMMENT ON COLUMN chan.recipient_profiles.discovery_state IS 'By how often anything was observed: not at all, less than five times, more.';

COMMENT ON COLUMN chan.recipient_profiles.field_times IS 'When each field was observed: merging keeps the latest, field by field.';

COMMENT ON COLUMN chan.recipient_profiles.erased IS 'A tombstone: the recipient was erased, and what is observed later is not kept. Nothing else stands in the row.';

CREATE TABLE chan.shared_number_contacts (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    platform_hash text NOT NULL COLLATE pg_catalog."C",
    sender_id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    last_sent_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_shared_number_contacts_hash CHECK ((platform_hash ~ '^sha256:[0-9a-f]{64}$'::text))
);

ALTER TABLE ONLY chan.shared_number_contacts FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.shared_number_contacts IS 'Which tenant wrote to whom from which number of a shared account; hashes only. Swept 18 months after the last message.';

COMMENT ON COLUMN chan.shared_number_contacts.platform_hash IS 'The person''s address under the platform''s pepper.';

COMMENT ON COLUMN chan.shared_number_contacts.sender_id IS 'The number, short code or handle, in its one spelling.';

COMMENT ON COLUMN chan.shared_number_contacts.last_sent_at IS 'To the day: it is written once a day at most.';

CREATE TABLE chan.spend_daily (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    stripe integer NOT NULL,
    channel text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    messages bigint DEFAULT 0 NOT NULL,
    estimated_micros bigint DEFAULT 0 NOT NULL,
    real_micros bigint DEFAULT 0 NOT NULL,
    corrected bigint DEFAULT 0 NOT NULL,
    CONSTRAINT ck_spend_daily_currency CHECK ((currency ~ '^[A-Z]{3}$'::text))
)
WITH (fillfactor='50');

ALTER TABLE ONLY chan.spend_daily FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.spend_daily IS 'What messages cost, by day (UTC) of their attempts; kept in the transactions that write attempts and receipts.';

COMMENT ON COLUMN chan.spend_daily.stripe IS 'The sum over all stripes is the amount; one stripe alone may be below nothing.';

COMMENT ON COLUMN chan.spend_daily.messages IS 'Vendor calls that cost something, of ladders and of confirmations in conversations.';

COMMENT ON COLUMN chan.spend_daily.estimated_micros IS 'By the price lists, as it was reckoned before the calls.';

COMMENT ON COLUMN chan.spend_daily.real_micros IS 'What the vendors said they take; the estimate where they said nothing.';

COMMENT ON COLUMN chan.spend_daily.corrected IS 'Of how many the vendor has told the price.';

CREATE TABLE chan.step_statistics (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    hour timestamp with time zone NOT NULL,
    step integer NOT NULL,
    channel text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    reached bigint NOT NULL,
    delivered bigint NOT NULL,
    calls bigint NOT NULL,
    accepted bigint NOT NULL,
    failed bigint NOT NULL,
    timed_out bigint NOT NULL,
    skipped bigint NOT NULL,
    latency_ms bigint NOT NULL,
    latencies bigint[] NOT NULL
)
WITH (fillfactor='70');

ALTER TABLE ONLY chan.step_statistics FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.step_statistics IS 'What became of the steps of ladders and of vendor calls, by the hour in which they began; older ones by the day.';

COMMENT ON COLUMN chan.step_statistics.vendor IS 'Empty for a step that called none.';

COMMENT ON COLUMN chan.step_statistics.reached IS 'Executions that came to this step; counted with its last call.';

COMMENT ON COLUMN chan.step_statistics.delivered IS 'Executions that ended as delivered in this step.';

COMMENT ON COLUMN chan.step_statistics.latency_ms IS 'Of all calls together.';

COMMENT ON COLUMN chan.step_statistics.latencies IS 'Calls by how long the vendor took: up to 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000 ms, and longer.';

CREATE TABLE chan.tenant_inbound_routes (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    inbound text COLLATE pg_catalog."C",
    webhook_url text NOT NULL,
    secret_ref text NOT NULL,
    active boolean DEFAULT true NOT NULL,
    grace_period_ends_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    platform boolean DEFAULT false NOT NULL,
    CONSTRAINT ck_tenant_inbound_routes_id CHECK ((id ~ '^route_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_tenant_inbound_routes_secret_ref CHECK ((secret_ref ~ '^[a-z][a-z0-9+.-]*://'::text))
);

ALTER TABLE ONLY chan.tenant_inbound_routes FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.tenant_inbound_routes IS 'Short code or E.164 number to the tenant whose inbound messages it takes.';

COMMENT ON COLUMN chan.tenant_inbound_routes.inbound IS 'Short code, number or handle that is written to; null: all others.';

COMMENT ON COLUMN chan.tenant_inbound_routes.grace_period_ends_at IS 'It was removed: until then it goes on working and can be restored, afterwards the number is free.';

COMMENT ON COLUMN chan.tenant_inbound_routes.platform IS 'Takes messages of the platform''s accounts too. An operator said so: otherwise anybody could claim a number that all share.';

CREATE TABLE chan.unknown_provider_codes (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    code text NOT NULL COLLATE pg_catalog."C",
    adapter text NOT NULL COLLATE pg_catalog."C",
    count bigint DEFAULT 0 NOT NULL,
    first_seen timestamp with time zone NOT NULL,
    last_seen timestamp with time zone NOT NULL,
    CONSTRAINT ck_unknown_provider_codes_adapter CHECK ((adapter ~ '^[a-z][a-z0-9_]{1,62}$'::text)),
    CONSTRAINT ck_unknown_provider_codes_code CHECK (((length(code) >= 1) AND (length(code) <= 64))),
    CONSTRAINT ck_unknown_provider_codes_count CHECK ((count >= 0))
)
WITH (fillfactor='70');

ALTER TABLE ONLY chan.unknown_provider_codes FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.unknown_provider_codes IS 'What vendors said about a tenant''s messages that nobody has given a meaning; the receipts themselves are kept.';

COMMENT ON COLUMN chan.unknown_provider_codes.code IS 'The vendor''s code; of an event without one its word.';

COMMENT ON COLUMN chan.unknown_provider_codes.adapter IS 'The adapter behind the vendor''s name.';

CREATE TABLE chan.vendor_weights (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    home jsonb NOT NULL,
    by_prefix jsonb DEFAULT '{}'::jsonb NOT NULL,
    shifts jsonb DEFAULT '{}'::jsonb NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_vendor_weights_id CHECK ((id ~ '^wgt_[0-9A-HJKMNP-TV-Z]{26}$'::text))
);

ALTER TABLE ONLY chan.vendor_weights FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.vendor_weights IS 'How vendors of one channel share its traffic. tenant_id null: the platform''s, for tenants without their own.';

COMMENT ON COLUMN chan.vendor_weights.home IS 'Points by vendor, 100 in all; empty: no weights, vendors in their order.';

COMMENT ON COLUMN chan.vendor_weights.by_prefix IS 'Other homes, by calling code.';

COMMENT ON COLUMN chan.vendor_weights.shifts IS 'Where points are or were away from home, by calling code: points, moved_at, sick_at.';

CREATE TABLE chan.webhook_inbound (
    id text NOT NULL COLLATE pg_catalog."C",
    received_at timestamp with time zone NOT NULL,
    tenant_id text COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    adapter text NOT NULL COLLATE pg_catalog."C",
    signature_valid boolean NOT NULL,
    raw_body_ref text NOT NULL,
    status text DEFAULT 'received'::text NOT NULL,
    reason text,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    body_key bytea,
    CONSTRAINT ck_webhook_inbound_id CHECK (((id ~~ 'whi\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_webhook_inbound_status CHECK ((status = ANY (ARRAY['received'::text, 'applied'::text, 'rejected'::text, 'dlq'::text])))
)
PARTITION BY RANGE (received_at);

ALTER TABLE ONLY chan.webhook_inbound FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.webhook_inbound IS 'One row per callback request as it came; the raw body is in the blob store.';

COMMENT ON COLUMN chan.webhook_inbound.received_at IS 'The time inside the id.';

COMMENT ON COLUMN chan.webhook_inbound.tenant_id IS 'Null: one request may speak about several tenants. Its events are theirs.';

COMMENT ON COLUMN chan.webhook_inbound.adapter IS 'The account that was called: last part of /hooks/{vendor}/{adapter}.';

COMMENT ON COLUMN chan.webhook_inbound.raw_body_ref IS 'Object and place in it: <key>#<place>. Bodies of one set share an object under a platform key, kept for some weeks.';

COMMENT ON COLUMN chan.webhook_inbound.body_key IS 'Seals this body alone, inside its object. Null: a person it is about was erased, or all that it said was known before.';

CREATE TABLE chan.webhook_inbound_dedup (
    vendor text NOT NULL COLLATE pg_catalog."C",
    adapter text NOT NULL COLLATE pg_catalog."C",
    vendor_message_id text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    discriminator text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone DEFAULT (now() + '90 days'::interval) NOT NULL,
    CONSTRAINT ck_webhook_inbound_dedup_event_id CHECK ((((event_id ~~ 'whe\_%'::text) AND (length(event_id) = 30)) OR ((event_id ~~ 'mo\_%'::text) AND (length(event_id) = 29))))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY chan.webhook_inbound_dedup FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.webhook_inbound_dedup IS 'Vendor events already taken in; swept by expires_at. No tenant: it is asked before one is known.';

COMMENT ON COLUMN chan.webhook_inbound_dedup.adapter IS 'Part of the key: two accounts of one vendor can give out the same message id (SMPP counts from 1).';

COMMENT ON COLUMN chan.webhook_inbound_dedup.type IS 'The vendor''s word for the event; mo for a message that somebody wrote.';

COMMENT ON COLUMN chan.webhook_inbound_dedup.discriminator IS 'When it occurred; where the vendor gives no time, its event id or a hash of the canonical payload.';

CREATE TABLE chan.webhook_inbound_events (
    id text NOT NULL COLLATE pg_catalog."C",
    received_at timestamp with time zone NOT NULL,
    tenant_id text COLLATE pg_catalog."C",
    webhook_inbound_id text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    adapter text NOT NULL COLLATE pg_catalog."C",
    vendor_message_id text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    occurred_at timestamp with time zone,
    payload_ciphertext bytea,
    status text DEFAULT 'queued'::text NOT NULL,
    attempt_id text COLLATE pg_catalog."C",
    correlate_attempts integer DEFAULT 0 NOT NULL,
    next_correlate_at timestamp with time zone,
    applied_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_webhook_inbound_events_id CHECK (((id ~~ 'whe\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_webhook_inbound_events_status CHECK ((status = ANY (ARRAY['queued'::text, 'applied'::text, 'late_correlate'::text, 'dlq'::text])))
)
PARTITION BY RANGE (received_at);

ALTER TABLE ONLY chan.webhook_inbound_events FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE chan.webhook_inbound_events IS 'What a callback said, event by event; waits until its attempt is found.';

COMMENT ON COLUMN chan.webhook_inbound_events.received_at IS 'The time inside the id.';

COMMENT ON COLUMN chan.webhook_inbound_events.tenant_id IS 'Null until correlated; from then on the tenant may read the row.';

COMMENT ON COLUMN chan.webhook_inbound_events.type IS 'What it means, in the words of delivery_attempt_events.';

COMMENT ON COLUMN chan.webhook_inbound_events.occurred_at IS 'As the vendor says; null where it does not.';

COMMENT ON COLUMN chan.webhook_inbound_events.payload_ciphertext IS 'Code, reason and cost, under a platform key; removed when they stand with the attempt. Null where it said nothing more.';

COMMENT ON COLUMN chan.webhook_inbound_events.next_correlate_at IS 'When its attempt is looked for again.';

CREATE TABLE kernel.audit_anchor_lines (
    log text NOT NULL COLLATE pg_catalog."C",
    anchor_number bigint NOT NULL,
    tenant_id text COLLATE pg_catalog."C",
    entity_type text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    record_hash text NOT NULL COLLATE pg_catalog."C",
    last_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY kernel.audit_anchor_lines REPLICA IDENTITY FULL;

ALTER TABLE ONLY kernel.audit_anchor_lines FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.audit_anchor_lines IS 'One stream in one anchor: its last row before the anchor''s end. Only streams that grew since the last anchor.';

CREATE TABLE kernel.audit_anchors (
    log text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    covers_from timestamp with time zone,
    covers_until timestamp with time zone NOT NULL,
    taken_at timestamp with time zone NOT NULL,
    stream_count bigint NOT NULL,
    row_count bigint NOT NULL,
    root text NOT NULL COLLATE pg_catalog."C",
    prev_digest text COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    signature bytea NOT NULL,
    CONSTRAINT ck_audit_anchors_first CHECK (((number = 1) = (prev_digest IS NULL))),
    CONSTRAINT ck_audit_anchors_kind CHECK ((kind = ANY (ARRAY['month'::text, 'demand'::text]))),
    CONSTRAINT ck_audit_anchors_log CHECK ((log = ANY (ARRAY['notification'::text, 'chan'::text, 'bff_backoffice'::text]))),
    CONSTRAINT ck_audit_anchors_number CHECK ((number >= 1))
);

ALTER TABLE ONLY kernel.audit_anchors FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.audit_anchors IS 'Signed statements of how far every stream of an audit log had come. Append-only, kept for ever.';

COMMENT ON COLUMN kernel.audit_anchors.root IS 'Hash over this anchor''s lines in order of tenant and entity type.';

COMMENT ON COLUMN kernel.audit_anchors.digest IS 'Hash of what was signed; the next anchor repeats it, so that none can vanish in between.';

CREATE TABLE kernel.bus_consumers (
    group_name text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    published_at timestamp with time zone NOT NULL,
    owner text COLLATE pg_catalog."C",
    epoch bigint DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='200', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY kernel.bus_consumers FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.bus_consumers IS 'How far each consumer group has come on the stream, and which process reads for it now.';

COMMENT ON COLUMN kernel.bus_consumers.published_at IS 'Of the event at position; tells which partitions are behind.';

COMMENT ON COLUMN kernel.bus_consumers.epoch IS 'Grows with every new owner; a process with an older one may not write here any more.';

CREATE TABLE kernel.bus_events (
    "position" bigint NOT NULL,
    published_at timestamp with time zone NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    ordering_key text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL,
    envelope text NOT NULL,
    applied_by text COLLATE pg_catalog."C"
)
PARTITION BY RANGE (published_at);

ALTER TABLE ONLY kernel.bus_events FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.bus_events IS 'The stream: every published event in its order. One partition a day, dropped after seven.';

COMMENT ON COLUMN kernel.bus_events.published_at IS 'When the relay moved it here, by the server''s clock.';

COMMENT ON COLUMN kernel.bus_events.applied_by IS 'The consumer group that has applied it in the transaction that wrote it.';

CREATE TABLE kernel.bus_parked (
    group_name text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    tenant_id text COLLATE pg_catalog."C",
    lane text NOT NULL COLLATE pg_catalog."C",
    envelope text NOT NULL,
    payload text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    last_error text,
    parked_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY kernel.bus_parked FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.bus_parked IS 'Events that failed in one group, and those that wait behind them to keep their order.';

COMMENT ON COLUMN kernel.bus_parked.lane IS 'Tenant and ordering key: where order holds.';

COMMENT ON COLUMN kernel.bus_parked.next_attempt_at IS 'Null while it waits behind an earlier event of its lane.';

COMMENT ON COLUMN kernel.bus_parked.last_error IS 'The code or class of the error, never its words: they may quote a person.';

CREATE SEQUENCE kernel.bus_positions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

COMMENT ON SEQUENCE kernel.bus_positions IS 'Places on the stream. Numbers may be missing; none appears after a higher one.';

CREATE TABLE kernel.bus_stream (
    singleton boolean DEFAULT true NOT NULL,
    engine text NOT NULL COLLATE pg_catalog."C",
    first_position bigint NOT NULL,
    last_position bigint NOT NULL,
    moved_at timestamp with time zone NOT NULL,
    stream_id text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT ck_bus_stream_engine CHECK ((engine = ANY (ARRAY['postgres'::text, 'nats'::text]))),
    CONSTRAINT ck_bus_stream_one CHECK (singleton)
)
WITH (fillfactor='50');

ALTER TABLE ONLY kernel.bus_stream FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.bus_stream IS 'Which engine has the stream. Relays of the other one refuse to work. One row.';

COMMENT ON COLUMN kernel.bus_stream.first_position IS 'Its first place with NATS; what is before it is in kernel.bus_events.';

COMMENT ON COLUMN kernel.bus_stream.last_position IS 'The last place that NATS has confirmed. A stream that ends before it has lost events.';

COMMENT ON COLUMN kernel.bus_stream.stream_id IS 'Written into the stream on NATS, so that two databases never share one.';

CREATE TABLE kernel.data_keys (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    subject_id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    wrapped_key bytea,
    tenant_key_version integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    destroyed_at timestamp with time zone,
    CONSTRAINT ck_data_keys_destroyed CHECK (((wrapped_key IS NULL) = (destroyed_at IS NOT NULL))),
    CONSTRAINT ck_data_keys_subject CHECK (((char_length(subject_id) >= 1) AND (char_length(subject_id) <= 200))),
    CONSTRAINT ck_data_keys_tenant CHECK ((tenant_id ~ '^tnt_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_data_keys_version CHECK ((version >= 1))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY kernel.data_keys FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.data_keys IS 'The key of one recipient (or other subject), wrapped by its tenant''s key; destroying it makes all it sealed unreadable.';

COMMENT ON COLUMN kernel.data_keys.version IS 'Version 1 is never removed: its row is locked by whoever changes which versions the subject has.';

COMMENT ON COLUMN kernel.data_keys.wrapped_key IS 'Null once destroyed; also for a subject that was destroyed before it had a key.';

CREATE TABLE kernel.dead_letters (
    id text NOT NULL COLLATE pg_catalog."C",
    group_name text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    event_id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    lane text NOT NULL COLLATE pg_catalog."C",
    envelope text NOT NULL,
    payload text NOT NULL,
    attempts integer NOT NULL,
    error text NOT NULL,
    died_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY kernel.dead_letters FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.dead_letters IS 'Events that a group has given up on; kept 14 days for replay.';

COMMENT ON COLUMN kernel.dead_letters.error IS 'The code or class of the last error, never its words.';

CREATE TABLE kernel.event_version_readers (
    subject text NOT NULL COLLATE pg_catalog."C",
    group_name text NOT NULL COLLATE pg_catalog."C",
    seen_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone
);

ALTER TABLE ONLY kernel.event_version_readers FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.event_version_readers IS 'Groups that read a version of an event which a newer one follows.';

COMMENT ON COLUMN kernel.event_version_readers.group_name IS 'Not personal: a consumer group; or a tenant''s id, a slash and the name of its reader.';

COMMENT ON COLUMN kernel.event_version_readers.seen_at IS 'When it was last known to read it.';

COMMENT ON COLUMN kernel.event_version_readers.completed_at IS 'When it said that it reads the newer version.';

CREATE TABLE kernel.event_versions (
    subject text NOT NULL COLLATE pg_catalog."C",
    successor text NOT NULL COLLATE pg_catalog."C",
    began_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone
);

ALTER TABLE ONLY kernel.event_versions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.event_versions IS 'Versions of events that a newer one follows, and whether both are published.';

COMMENT ON COLUMN kernel.event_versions.began_at IS 'When this installation began to publish both.';

COMMENT ON COLUMN kernel.event_versions.closed_at IS 'When it ended to; from then on only the newer one is published.';

CREATE TABLE kernel.exported_months (
    parent text NOT NULL COLLATE pg_catalog."C",
    month date NOT NULL,
    rows bigint NOT NULL,
    verified_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY kernel.exported_months FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.exported_months IS 'Months of ledgers all rows of which stand in files that were read back: only these are dropped.';

CREATE TABLE kernel.feature_flags (
    key text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    enabled boolean NOT NULL,
    percentage integer,
    reason text NOT NULL,
    updated_by text NOT NULL COLLATE pg_catalog."C",
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_feature_flags_key CHECK ((key ~ '^[a-z][a-z0-9_.]{1,62}$'::text)),
    CONSTRAINT ck_feature_flags_percentage CHECK (((percentage >= 0) AND (percentage <= 100))),
    CONSTRAINT ck_feature_flags_rollout CHECK (((percentage IS NULL) OR ((tenant_id IS NULL) AND enabled)))
);

ALTER TABLE ONLY kernel.feature_flags REPLICA IDENTITY FULL;

ALTER TABLE ONLY kernel.feature_flags FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.feature_flags IS 'Switches that differ from their declared default. tenant_id null: for everybody; a tenant''s own row wins.';

COMMENT ON COLUMN kernel.feature_flags.percentage IS 'On for this share of the tenants, chosen by a stable hash; null means all.';

CREATE TABLE kernel.hot_leases (
    tenant_id text COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    fence bigint NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY kernel.hot_leases REPLICA IDENTITY FULL;

ALTER TABLE ONLY kernel.hot_leases FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.hot_leases IS 'Who alone may do something, until when.';

CREATE TABLE kernel.hot_limits (
    tenant_id text COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    moments bigint[] NOT NULL,
    amounts bigint[] NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY kernel.hot_limits REPLICA IDENTITY FULL;

ALTER TABLE ONLY kernel.hot_limits FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.hot_limits IS 'What was taken of each limit, in its present window. The arithmetic is in kernel/limit_windows.py.';

COMMENT ON COLUMN kernel.hot_limits.moments IS 'Microseconds since 1970, each with the amount at its place in amounts.';

CREATE UNLOGGED TABLE kernel.hot_presence (
    tenant_id text COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    member text NOT NULL COLLATE pg_catalog."C",
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY kernel.hot_presence FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.hot_presence IS 'Who is here: which process holds a live stream of which recipient (key), over what and since when (member). A row that is not renewed expires.';

CREATE TABLE kernel.hot_seen (
    tenant_id text COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    expires_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY kernel.hot_seen REPLICA IDENTITY FULL;

ALTER TABLE ONLY kernel.hot_seen FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.hot_seen IS 'Keys that were seen and may not pass again until they expire.';

CREATE SEQUENCE kernel.lease_fences
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

COMMENT ON SEQUENCE kernel.lease_fences IS 'Numbers the holders of leases, so that a late writer can be told from the present one.';

CREATE TABLE kernel.partitioned_tables (
    parent text NOT NULL COLLATE pg_catalog."C",
    service text NOT NULL,
    unit text DEFAULT 'month'::text NOT NULL,
    ahead integer NOT NULL,
    time_column text NOT NULL,
    fillfactor integer DEFAULT 100 NOT NULL,
    keep integer,
    after_export boolean DEFAULT false NOT NULL,
    CONSTRAINT ck_partitioned_tables_ahead CHECK (((ahead >= 1) AND (ahead <= 60))),
    CONSTRAINT ck_partitioned_tables_fillfactor CHECK (((fillfactor >= 50) AND (fillfactor <= 100))),
    CONSTRAINT ck_partitioned_tables_keep CHECK ((keep >= 1)),
    CONSTRAINT ck_partitioned_tables_service CHECK ((service = ANY (ARRAY['kernel'::text, 'notify'::text, 'router'::text, 'backoffice'::text]))),
    CONSTRAINT ck_partitioned_tables_unit CHECK ((unit = ANY (ARRAY['month'::text, 'day'::text])))
);

COMMENT ON TABLE kernel.partitioned_tables IS 'Parents whose time partitions are made ahead by a job. Written by migrations.';

COMMENT ON COLUMN kernel.partitioned_tables.parent IS 'The table that is partitioned by range, e.g. notification.notifications_standard.';

COMMENT ON COLUMN kernel.partitioned_tables.ahead IS 'How many units after the present one are made ahead.';

COMMENT ON COLUMN kernel.partitioned_tables.fillfactor IS 'For new partitions: room on the page for rows that are updated. A parent cannot carry it.';

COMMENT ON COLUMN kernel.partitioned_tables.keep IS 'A partition that ended this many units ago is dropped as it is. Null: kept until its rows are archived.';

COMMENT ON COLUMN kernel.partitioned_tables.after_export IS 'A month is dropped only once kernel.exported_months has it.';

CREATE TABLE kernel.platform_keys (
    purpose text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    wrapped_key bytea NOT NULL,
    master_key_id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_platform_keys_pepper_stays CHECK (((purpose <> 'pepper'::text) OR (version = 1))),
    CONSTRAINT ck_platform_keys_purpose CHECK ((purpose ~ '^[a-z][a-z_]{0,62}$'::text)),
    CONSTRAINT ck_platform_keys_version CHECK ((version >= 1))
);

ALTER TABLE ONLY kernel.platform_keys FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.platform_keys IS 'The platform''s own keys, wrapped by the master key: its pepper, and the key for callbacks that nobody has claimed yet.';

CREATE TABLE kernel.processes (
    id text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    services text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    pid integer NOT NULL,
    jobs integer NOT NULL,
    late_jobs text DEFAULT '[]'::text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    stopped_at timestamp with time zone,
    CONSTRAINT ck_processes_id CHECK ((id ~ '^prc_[0-9A-HJKMNP-TV-Z]{26}$'::text))
)
WITH (fillfactor='50');

ALTER TABLE ONLY kernel.processes FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.processes IS 'Processes of this installation, each with its last report; a week.';

COMMENT ON COLUMN kernel.processes.role IS 'Not personal: api, jobs, or both.';

COMMENT ON COLUMN kernel.processes.host IS 'Not personal: the machine''s name.';

COMMENT ON COLUMN kernel.processes.late_jobs IS 'JSON: names of jobs whose turn is overdue, and by how many seconds.';

COMMENT ON COLUMN kernel.processes.stopped_at IS 'When it was told to end; null: it runs, or died.';

CREATE TABLE kernel.roll_up_marks (
    name text NOT NULL COLLATE pg_catalog."C",
    after_xid bigint NOT NULL,
    not_before timestamp with time zone NOT NULL
);

ALTER TABLE ONLY kernel.roll_up_marks FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.roll_up_marks IS 'How far the history has been rolled up; its row is locked by whoever does it.';

COMMENT ON COLUMN kernel.roll_up_marks.name IS 'Not personal: what is rolled up.';

COMMENT ON COLUMN kernel.roll_up_marks.after_xid IS 'Transactions before this one are in the statistics.';

COMMENT ON COLUMN kernel.roll_up_marks.not_before IS 'Rows that began earlier are in the statistics whatever their transaction: it was one of another cluster, before the database moved.';

CREATE TABLE kernel.schema_migrations (
    number integer NOT NULL,
    slug text NOT NULL,
    phase text NOT NULL,
    checksum text NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    statements_done integer DEFAULT 0 NOT NULL,
    applied_by text NOT NULL,
    duration interval DEFAULT '00:00:00'::interval NOT NULL,
    oldest_release text,
    CONSTRAINT ck_schema_migrations_checksum CHECK ((checksum ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_schema_migrations_number CHECK ((number >= 1)),
    CONSTRAINT ck_schema_migrations_oldest_release CHECK ((oldest_release ~ '^\d+\.\d+\.\d+$'::text)),
    CONSTRAINT ck_schema_migrations_phase CHECK ((phase = ANY (ARRAY['pre'::text, 'post'::text]))),
    CONSTRAINT ck_schema_migrations_statements CHECK ((statements_done >= 0))
);

COMMENT ON TABLE kernel.schema_migrations IS 'Which migrations this database has; a row without finished_at is half-applied. Only `tidings migrate` writes it.';

COMMENT ON COLUMN kernel.schema_migrations.oldest_release IS 'The oldest release of Tidings that works on the schema with this migration; null: only releases that know it.';

CREATE TABLE kernel.schema_migrations_log (
    entry bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    action text NOT NULL,
    number integer NOT NULL,
    slug text NOT NULL,
    checksum text NOT NULL,
    by text NOT NULL,
    reason text,
    CONSTRAINT ck_schema_migrations_log_action CHECK ((action = ANY (ARRAY['started'::text, 'resumed'::text, 'applied'::text, 'reverted'::text]))),
    CONSTRAINT ck_schema_migrations_log_reason CHECK (((action <> 'reverted'::text) OR (reason IS NOT NULL)))
);

COMMENT ON TABLE kernel.schema_migrations_log IS 'Everything that `tidings migrate` ever did to this database, emergency reversals included; append-only.';

ALTER TABLE kernel.schema_migrations_log ALTER COLUMN entry ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME kernel.schema_migrations_log_entry_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE kernel.sweep_marks (
    name text NOT NULL COLLATE pg_catalog."C",
    swept_until timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY kernel.sweep_marks FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.sweep_marks IS 'How far each sweep has come; its row is locked by whoever sweeps.';

CREATE TABLE kernel.tenant_keys (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    purpose text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    wrapped_key bytea NOT NULL,
    master_key_id text NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT 'active'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    retired_at timestamp with time zone,
    CONSTRAINT ck_tenant_keys_pepper_stays CHECK (((purpose <> 'pepper'::text) OR ((version = 1) AND (state = 'active'::text)))),
    CONSTRAINT ck_tenant_keys_purpose CHECK ((purpose = ANY (ARRAY['wrapping'::text, 'pepper'::text]))),
    CONSTRAINT ck_tenant_keys_retired CHECK (((state = 'retired'::text) = (retired_at IS NOT NULL))),
    CONSTRAINT ck_tenant_keys_state CHECK ((state = ANY (ARRAY['active'::text, 'retired'::text]))),
    CONSTRAINT ck_tenant_keys_tenant CHECK ((tenant_id ~ '^tnt_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_tenant_keys_version CHECK ((version >= 1))
);

ALTER TABLE ONLY kernel.tenant_keys FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.tenant_keys IS 'A tenant''s key for wrapping data keys, and its pepper for hashing addresses; both wrapped by the master key.';

COMMENT ON COLUMN kernel.tenant_keys.state IS 'The highest active version wraps; an older one is active while data keys are still being re-wrapped.';

COMMENT ON COLUMN kernel.tenant_keys.created_at IS 'The time of the transaction that made it: a reader knows by it whether the row is its own and may yet be rolled back.';

CREATE TABLE kernel.workers (
    id text NOT NULL COLLATE pg_catalog."C",
    lock_key bigint NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_workers_id CHECK (((id ~~ 'wrk\_%'::text) AND (length(id) = 30)))
)
WITH (fillfactor='50');

ALTER TABLE ONLY kernel.workers FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE kernel.workers IS 'Workers that are alive: each says so every second and holds a lock while it is connected.';

COMMENT ON COLUMN kernel.workers.lock_key IS 'The advisory lock that its session holds.';

CREATE TABLE notification.address_refusals (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    address_hash text NOT NULL COLLATE pg_catalog."C",
    category text COLLATE pg_catalog."C",
    refused_at timestamp with time zone NOT NULL,
    source text NOT NULL,
    evidence text,
    withdrawn_at timestamp with time zone,
    withdrawn_by text,
    CONSTRAINT ck_address_refusals_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_address_refusals_hash CHECK ((address_hash ~ '^sha256:[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_address_refusals_id CHECK ((id ~ '^arf_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_address_refusals_withdrawn CHECK (((withdrawn_at IS NULL) = (withdrawn_by IS NULL)))
);

ALTER TABLE ONLY notification.address_refusals FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.address_refusals IS 'Who unsubscribed, by address: holds for every recipient who has it. Withdrawn, never deleted; outlives an erasure.';

COMMENT ON COLUMN notification.address_refusals.address_hash IS 'Under the tenant''s pepper.';

COMMENT ON COLUMN notification.address_refusals.category IS 'Null: every category that can be unsubscribed from.';

COMMENT ON COLUMN notification.address_refusals.source IS 'one_click, unsubscribe_page or preference_page.';

COMMENT ON COLUMN notification.address_refusals.evidence IS 'token:oot_…, the link that was used; null after an erasure.';

COMMENT ON COLUMN notification.address_refusals.withdrawn_by IS 'How its owner said yes again: preference_page, confirmation_page, api.';

CREATE TABLE notification.api_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    name text NOT NULL,
    secret_hash text NOT NULL COLLATE pg_catalog."C",
    scopes text[] DEFAULT ARRAY[]::text[] NOT NULL,
    role text NOT NULL,
    environment text DEFAULT 'live'::text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    rotated_from text COLLATE pg_catalog."C",
    rotated_to text COLLATE pg_catalog."C",
    overlap_ends_at timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    seal bytea,
    CONSTRAINT ck_api_keys_environment CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
    CONSTRAINT ck_api_keys_id CHECK ((id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_api_keys_role CHECK ((role = ANY (ARRAY['platform.channel.admin'::text, 'platform.support'::text, 'tenant.admin'::text, 'tenant.support'::text, 'tenant.viewer'::text]))),
    CONSTRAINT ck_api_keys_role_fits_tenant CHECK (((tenant_id IS NULL) = (role ~~ 'platform.%'::text))),
    CONSTRAINT ck_api_keys_secret_hash CHECK ((secret_hash ~ '^sha256:[0-9a-f]{64}$'::text))
);

ALTER TABLE ONLY notification.api_keys FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.api_keys IS 'Callers'' keys. tenant_id null: a key of the platform, which no tenant sees.';

COMMENT ON COLUMN notification.api_keys.secret_hash IS 'sha256 of a random secret of full entropy; the secret itself is shown once and not kept.';

COMMENT ON COLUMN notification.api_keys.overlap_ends_at IS 'After a rotation the old key works until then.';

COMMENT ON COLUMN notification.api_keys.seal IS 'Proof that the application wrote tenant, role, scopes, environment, hash and ends of this row: an empty box of the platform key api_keys, bound to them. A row without a valid one lets nobody in.';

CREATE TABLE notification.audit (
    tenant_id text COLLATE pg_catalog."C",
    entity_type text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    occurred_at timestamp with time zone NOT NULL,
    entity_id text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL COLLATE pg_catalog."C",
    before text,
    after text,
    ip_hash text COLLATE pg_catalog."C",
    user_agent_hash text COLLATE pg_catalog."C",
    trace_id text COLLATE pg_catalog."C",
    reason text,
    prev_hash text COLLATE pg_catalog."C",
    record_hash text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT ck_audit_action CHECK ((action ~ '^[a-z][a-z0-9_.]{1,62}$'::text)),
    CONSTRAINT ck_audit_entity_type CHECK ((entity_type ~ '^[a-z][a-z0-9_]{1,62}$'::text)),
    CONSTRAINT ck_audit_first CHECK (((seq = 1) = (prev_hash IS NULL))),
    CONSTRAINT ck_audit_id CHECK ((id ~ '^aud_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_audit_prev_hash CHECK ((prev_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_audit_record_hash CHECK ((record_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_audit_seq CHECK ((seq >= 1))
)
PARTITION BY RANGE (occurred_at);

ALTER TABLE ONLY notification.audit FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.audit IS 'Who changed what in notify, append-only and hash-chained. tenant_id null: the platform''s own.';

COMMENT ON COLUMN notification.audit.seq IS 'Counts from 1 within tenant and entity type, without gaps.';

COMMENT ON COLUMN notification.audit.occurred_at IS 'The time inside the id; never earlier than the stream''s previous row.';

COMMENT ON COLUMN notification.audit.before IS 'JSON, redacted: no address, body or secret.';

COMMENT ON COLUMN notification.audit.after IS 'JSON, redacted: no address, body or secret.';

COMMENT ON COLUMN notification.audit.ip_hash IS 'Peppered; the raw address is not kept.';

COMMENT ON COLUMN notification.audit.record_hash IS 'Hex sha256 over every other column, prev_hash included; the form is in kernel/audit/record.py.';

CREATE TABLE notification.audit_heads (
    tenant_id text COLLATE pg_catalog."C",
    entity_type text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    record_hash text COLLATE pg_catalog."C",
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_audit_heads_seq CHECK ((seq >= 0))
)
WITH (fillfactor='50');

ALTER TABLE ONLY notification.audit_heads REPLICA IDENTITY FULL;

ALTER TABLE ONLY notification.audit_heads FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.audit_heads IS 'The last row of every audit stream: appenders lock it, and a cut-off tail is seen by it.';

CREATE TABLE notification.batch_counts (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    batch_id text NOT NULL COLLATE pg_catalog."C",
    variant smallint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    stripe integer NOT NULL,
    n bigint NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.batch_counts FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.batch_counts IS 'How many people of a batch came to each state, counted in the transaction that brought them there.';

COMMENT ON COLUMN notification.batch_counts.name IS 'Not personal: the name of a state.';

COMMENT ON COLUMN notification.batch_counts.stripe IS 'Writers of different stripes do not wait for each other; readers add them up.';

CREATE TABLE notification.batch_list (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    batch_id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    variables_ciphertext bytea
);

ALTER TABLE ONLY notification.batch_list FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.batch_list IS 'Whom a batch is for, where a file or a list names them.';

COMMENT ON COLUMN notification.batch_list.variables_ciphertext IS 'What a list says of this person alone, over the variables of the batch; sealed under their key.';

CREATE TABLE notification.batch_people (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    batch_id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    variant smallint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    notification_id text COLLATE pg_catalog."C",
    error_code text COLLATE pg_catalog."C",
    unread_answers smallint DEFAULT 0 NOT NULL,
    send_at timestamp with time zone,
    CONSTRAINT ck_batch_people_state CHECK ((state = ANY (ARRAY['planned'::text, 'accepted'::text, 'refused'::text, 'sent'::text, 'delivered'::text, 'bounced'::text, 'failed'::text, 'suppressed'::text, 'expired'::text, 'cancelled'::text, 'superseded'::text, 'withdrawn'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.batch_people FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.batch_people IS 'The ledger of a batch: each person once.';

COMMENT ON COLUMN notification.batch_people.variant IS 'Which share of the A/B test; 0: the batch as it is.';

COMMENT ON COLUMN notification.batch_people.unread_answers IS 'Calls of a vendor whose answer was never read: the message may have arrived once more.';

COMMENT ON COLUMN notification.batch_people.send_at IS 'When a message is made for them, while they are planned.';

CREATE TABLE notification.branding (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    branding jsonb NOT NULL,
    updated_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL
);

ALTER TABLE ONLY notification.branding FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.branding IS 'A tenant''s look in mails and on pages; a channel may override parts of it.';

COMMENT ON COLUMN notification.branding.version IS 'ETag; part of the theme_etag that templates can show.';

CREATE TABLE notification.categories (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    own boolean NOT NULL,
    names jsonb DEFAULT '{}'::jsonb NOT NULL,
    "position" integer,
    hidden boolean DEFAULT false NOT NULL,
    default_use_case text,
    retention_class text,
    default_priority text,
    default_expiry_seconds integer,
    needs_consent boolean,
    can_unsubscribe boolean,
    breaks_quiet_hours boolean,
    may_digest boolean,
    tracking_allowed boolean,
    retired_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT ck_categories_category CHECK ((category ~ '^[a-z][a-z0-9_]{1,62}$'::text)),
    CONSTRAINT ck_categories_expiry CHECK ((default_expiry_seconds > 0)),
    CONSTRAINT ck_categories_marketing CHECK (((default_use_case <> 'marketing'::text) OR (needs_consent AND can_unsubscribe))),
    CONSTRAINT ck_categories_policy CHECK ((num_nulls(default_use_case, retention_class, default_priority, default_expiry_seconds, needs_consent, can_unsubscribe, breaks_quiet_hours, may_digest, tracking_allowed) =
CASE
    WHEN own THEN 0
    ELSE 9
END)),
    CONSTRAINT ck_categories_priority CHECK ((default_priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_categories_retention_class CHECK ((retention_class = ANY (ARRAY['regulated'::text, 'standard'::text, 'marketing'::text]))),
    CONSTRAINT ck_categories_retired CHECK ((own OR (retired_at IS NULL))),
    CONSTRAINT ck_categories_use_case CHECK ((default_use_case = ANY (ARRAY['otp'::text, 'txn'::text, 'marketing'::text, 'alert'::text, 'conversational'::text])))
);

ALTER TABLE ONLY notification.categories FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.categories IS 'A tenant''s own categories, and what it calls the platform''s, in which order, and which of them it hides.';

COMMENT ON COLUMN notification.categories.own IS 'False: it says only how one of the platform''s appears.';

CREATE TABLE notification.channel_credentials (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    channel_id text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL,
    secret_ref text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    rotated_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT ck_channel_credentials_id CHECK ((id ~ '^chc_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_channel_credentials_secret_ref CHECK ((secret_ref ~ '^[a-z][a-z0-9+.-]*://'::text)),
    CONSTRAINT ck_channel_credentials_status CHECK ((status = ANY (ARRAY['active'::text, 'superseded'::text, 'revoked'::text])))
);

ALTER TABLE ONLY notification.channel_credentials FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.channel_credentials IS 'Which secret a channel uses with a vendor, and which it used before.';

COMMENT ON COLUMN notification.channel_credentials.secret_ref IS 'A reference (file://, env://, vault://…), never the secret.';

COMMENT ON COLUMN notification.channel_credentials.revoked_at IS 'Since when nothing is sent with it: from then on it may be deleted at the vendor.';

CREATE TABLE notification.channels (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    vendor text NOT NULL,
    fallback_vendor text,
    sender jsonb NOT NULL,
    branding_overrides jsonb,
    rate_limit jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    health jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT ck_channels_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_channels_id CHECK ((id ~ '^ch_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_channels_status CHECK ((status = ANY (ARRAY['active'::text, 'degraded'::text, 'down'::text, 'disabled'::text])))
);

ALTER TABLE ONLY notification.channels FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.channels IS 'How a tenant wants to appear on a channel, and through which vendors.';

COMMENT ON COLUMN notification.channels.sender IS 'From, reply-to, DKIM selector, sender id: the tenant''s, not a person''s.';

COMMENT ON COLUMN notification.channels.status IS 'active or disabled as the operator wants it; degraded or down by what the router says of its vendors.';

COMMENT ON COLUMN notification.channels.health IS 'By vendor, those that take no messages now: the account, why, since when and until when. Not part of the version.';

CREATE TABLE notification.consent_events (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    channel text,
    category text COLLATE pg_catalog."C",
    occurred_at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    source text NOT NULL,
    evidence text,
    actor text NOT NULL,
    preferences_version integer NOT NULL,
    CONSTRAINT ck_consent_events_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_consent_events_id CHECK ((id ~ '^cns_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_consent_events_kind CHECK ((kind = ANY (ARRAY['consent_requested'::text, 'consent_granted'::text, 'consent_withdrawn'::text, 'opted_out'::text, 'opted_in'::text])))
);

ALTER TABLE ONLY notification.consent_events FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.consent_events IS 'Every yes and no of a recipient, as it was told. Append-only; outlives the recipient''s erasure, without its evidence.';

COMMENT ON COLUMN notification.consent_events.channel IS 'Null: all channels.';

COMMENT ON COLUMN notification.consent_events.category IS 'Null: everything that can be said no to; of consent, what needs it.';

COMMENT ON COLUMN notification.consent_events.occurred_at IS 'When it was told; recorded_at is when it was written down.';

COMMENT ON COLUMN notification.consent_events.evidence IS 'A reference to where it can be looked up; the one thing that erasure takes away.';

CREATE TABLE notification.consumed_events (
    consumer_name text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    consumed_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone DEFAULT (now() + '30 days'::interval) NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.consumed_events FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.consumed_events IS 'Which consumer has applied which event; outlives the bus and its dead letters.';

COMMENT ON COLUMN notification.consumed_events.event_id IS 'Our own evt_ id. A producer''s id is not unique between tenants and must not stand here.';

CREATE TABLE notification.counters (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    stripe integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    n bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.counters FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.counters IS 'How many notifications came to each status, by day; kept in the transactions that move them.';

COMMENT ON COLUMN notification.counters.stripe IS 'The sum over all stripes is the count.';

COMMENT ON COLUMN notification.counters.name IS 'accepted, deferred, a status, complaint, or what people did: read, opened, clicked; the last two _again and _by_machine.';

CREATE TABLE notification.dedup_ledger (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    source_event_id text NOT NULL COLLATE pg_catalog."C",
    template_key text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    notification_id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.dedup_ledger FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.dedup_ledger IS 'One notification per event, template, recipient and channel.';

COMMENT ON COLUMN notification.dedup_ledger.channel IS 'With what else tells messages apart that one event makes of a template for somebody: email@<time> for each time that it was planned for, test:… for tests.';

COMMENT ON COLUMN notification.dedup_ledger.expires_at IS 'No default: it must outlive the bus''s retention plus the longest schedule offset.';

CREATE TABLE notification.delivery_attempts (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    attempt_number integer NOT NULL,
    http_status integer,
    latency_ms integer DEFAULT 0 NOT NULL,
    retry_after_ms integer,
    notification_id text NOT NULL COLLATE pg_catalog."C",
    execution_id text COLLATE pg_catalog."C",
    router_attempt_id text COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    vendor_message_id text COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    error_code text,
    error_message text,
    raw_response_ref text,
    CONSTRAINT ck_delivery_attempts_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_delivery_attempts_id CHECK (((id ~~ 'dat\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_delivery_attempts_outcome CHECK ((outcome = ANY (ARRAY['accepted'::text, 'rejected_retryable'::text, 'rejected_terminal'::text, 'timeout'::text, 'delivered'::text, 'bounced'::text, 'complaint'::text, 'opened'::text, 'clicked'::text, 'failed'::text])))
)
PARTITION BY RANGE (started_at);

ALTER TABLE ONLY notification.delivery_attempts FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.delivery_attempts IS 'Append-only log per notification: receipts, bounces, opens, clicks. Rows of before have the vendor calls too, numbered from 1.';

COMMENT ON COLUMN notification.delivery_attempts.started_at IS 'The time inside the id.';

COMMENT ON COLUMN notification.delivery_attempts.attempt_number IS 'Counts from 1; 0 for what was said or done afterwards.';

COMMENT ON COLUMN notification.delivery_attempts.notification_id IS 'No foreign key to a partitioned table; its month is inside the id.';

COMMENT ON COLUMN notification.delivery_attempts.router_attempt_id IS 'The attempt in the router, whose schema we do not read.';

COMMENT ON COLUMN notification.delivery_attempts.error_message IS 'Redacted: no address, no body.';

COMMENT ON COLUMN notification.delivery_attempts.raw_response_ref IS 'The router''s reference to what the vendor answered; sealed under the person''s key, kept 30 days.';

CREATE TABLE notification.digest_windows (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    digest_key text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    window_start timestamp with time zone NOT NULL,
    window_end timestamp with time zone NOT NULL,
    flush_at timestamp with time zone NOT NULL,
    item_count integer DEFAULT 0 NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    digest_notification_id text COLLATE pg_catalog."C",
    claimed_by text,
    claimed_until timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    is_test boolean DEFAULT false NOT NULL,
    slides boolean DEFAULT false NOT NULL,
    flush_by timestamp with time zone,
    last_item_at timestamp with time zone,
    oldest_item_at timestamp with time zone,
    newest_item_at timestamp with time zone,
    retry_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text COLLATE pg_catalog."C",
    flushed_at timestamp with time zone,
    result text COLLATE pg_catalog."C",
    CONSTRAINT ck_digest_windows_channel CHECK ((channel = ANY (ARRAY['auto'::text, 'email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_digest_windows_id CHECK ((id ~ '^dgw_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_digest_windows_order CHECK ((window_end > window_start)),
    CONSTRAINT ck_digest_windows_state CHECK ((state = ANY (ARRAY['open'::text, 'flushing'::text, 'flushed'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY notification.digest_windows FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.digest_windows IS 'Queue of digests: a window per recipient, category, channel and key.';

COMMENT ON COLUMN notification.digest_windows.digest_key IS 'Tells several digests of one category apart; empty for the usual one.';

COMMENT ON COLUMN notification.digest_windows.window_end IS 'It is flushed by then at the latest, by the schedule that it was opened under.';

COMMENT ON COLUMN notification.digest_windows.item_count IS 'How many notifications have joined: those with this digest_group_id. Some may have been cancelled since.';

COMMENT ON COLUMN notification.digest_windows.claimed_until IS 'Not used: a claim has no time limit, and ends with its worker.';

COMMENT ON COLUMN notification.digest_windows.is_test IS 'Of notifications that were ordered with a test key; their digest is a test too.';

COMMENT ON COLUMN notification.digest_windows.slides IS 'Each item puts the flush off, until window_end at most.';

COMMENT ON COLUMN notification.digest_windows.flush_by IS 'The first of its items expires soon after; null where none does before the flush.';

COMMENT ON COLUMN notification.digest_windows.last_item_at IS 'When the last item joined.';

COMMENT ON COLUMN notification.digest_windows.oldest_item_at IS 'When the oldest of its items was created: with newest_item_at, the months that they lie in.';

COMMENT ON COLUMN notification.digest_windows.retry_at IS 'After such an error it is left alone until then.';

COMMENT ON COLUMN notification.digest_windows.attempts IS 'Flushes of it that ended in an error.';

COMMENT ON COLUMN notification.digest_windows.last_error IS 'A code; never a value.';

COMMENT ON COLUMN notification.digest_windows.result IS 'digest: one message for all; single: its only item went by itself; empty: no item was left; apart: no digest could be made, and each went by itself.';

CREATE TABLE notification.dispatch_batches (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    category text NOT NULL COLLATE pg_catalog."C",
    template_key text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    recipient_query jsonb NOT NULL,
    variables_ciphertext bytea NOT NULL,
    scheduled_for timestamp with time zone,
    rate_limit jsonb,
    status text DEFAULT 'draft'::text NOT NULL,
    totals jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    paused_at timestamp with time zone,
    completed_at timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    priority text DEFAULT 'low'::text NOT NULL COLLATE pg_catalog."C",
    local_time text COLLATE pg_catalog."C",
    send_window jsonb,
    variants jsonb,
    needs_approval boolean DEFAULT false NOT NULL,
    changed_by text,
    approved_by text,
    approved_at timestamp with time zone,
    cloned_from text COLLATE pg_catalog."C",
    started_by text,
    expected bigint,
    walked_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    walked_at timestamp with time zone,
    due_at timestamp with time zone,
    claimed_by text COLLATE pg_catalog."C",
    attempts integer DEFAULT 0 NOT NULL,
    slots jsonb,
    problem text,
    cancelled_at timestamp with time zone,
    failed_at timestamp with time zone,
    resumed_at timestamp with time zone,
    CONSTRAINT ck_dispatch_batches_channel CHECK ((channel = ANY (ARRAY['auto'::text, 'email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_dispatch_batches_id CHECK ((id ~ '^dbt_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_dispatch_batches_status CHECK ((status = ANY (ARRAY['draft'::text, 'scheduled'::text, 'running'::text, 'paused'::text, 'completed'::text, 'cancelled'::text, 'failed'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY notification.dispatch_batches FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.dispatch_batches IS 'A batch: template, recipient query, pacing, totals.';

COMMENT ON COLUMN notification.dispatch_batches.recipient_query IS 'Whom: a filter, a list, or both. As it was written.';

COMMENT ON COLUMN notification.dispatch_batches.variables_ciphertext IS 'Under the tenant''s key: they are everybody''s.';

COMMENT ON COLUMN notification.dispatch_batches.rate_limit IS 'Pacing: people a minute, in all and by mail domain; rates and warm-up by vendor and by account.';

COMMENT ON COLUMN notification.dispatch_batches.totals IS 'Its counts when nothing was under way any more.';

COMMENT ON COLUMN notification.dispatch_batches.local_time IS 'The hour at which each person is written to, in their zone.';

COMMENT ON COLUMN notification.dispatch_batches.send_window IS 'Hours and days that it is sent in, and whose zone they are of.';

COMMENT ON COLUMN notification.dispatch_batches.variants IS 'Shares of an A/B test: name, percentage, template. Their variables are sealed with the others.';

COMMENT ON COLUMN notification.dispatch_batches.expected IS 'How many people it had when it was started.';

COMMENT ON COLUMN notification.dispatch_batches.walked_to IS 'The last recipient that the runner has come to.';

COMMENT ON COLUMN notification.dispatch_batches.walked_at IS 'When the runner had come to the end.';

COMMENT ON COLUMN notification.dispatch_batches.due_at IS 'When the runner looks at it next. Null: never.';

COMMENT ON COLUMN notification.dispatch_batches.slots IS 'When the next message may go, in all and for each mail domain that is paced.';

COMMENT ON COLUMN notification.dispatch_batches.problem IS 'Why it was paused or failed by itself, without anything personal.';

COMMENT ON COLUMN notification.dispatch_batches.resumed_at IS 'Whose local hour fell into the pause before is written to at the next one.';

CREATE TABLE notification.dispatch_queue (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    notification_id text NOT NULL COLLATE pg_catalog."C",
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    priority integer NOT NULL,
    weight integer DEFAULT 1 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    claimed_by text COLLATE pg_catalog."C",
    CONSTRAINT ck_dispatch_queue_priority CHECK (((priority >= 0) AND (priority <= 3))),
    CONSTRAINT ck_dispatch_queue_weight CHECK (((weight >= 1) AND (weight <= 1000)))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY notification.dispatch_queue FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.dispatch_queue IS 'Notifications ready to be decided and handed to the router.';

COMMENT ON COLUMN notification.dispatch_queue.priority IS '0 critical, 1 high, 2 normal, 3 low.';

COMMENT ON COLUMN notification.dispatch_queue.weight IS 'How many turns the tenant gets in a round, as it was at acceptance.';

COMMENT ON COLUMN notification.dispatch_queue.attempts IS 'How often its turn ended in an error; set aside after a few.';

COMMENT ON COLUMN notification.dispatch_queue.claimed_by IS 'The worker whose turn it is in; freed when that one dies.';

CREATE TABLE notification.dispatch_requests (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    notification_id text NOT NULL COLLATE pg_catalog."C",
    announced_at timestamp with time zone NOT NULL,
    look_at timestamp with time zone NOT NULL,
    announcements integer DEFAULT 1 NOT NULL,
    request text NOT NULL,
    traceparent text,
    CONSTRAINT ck_dispatch_requests_announcements CHECK ((announcements >= 1))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY notification.dispatch_requests FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.dispatch_requests IS 'Hand-overs that were announced on the bus, until a router is known to have taken them; empty where notify and router share a process.';

COMMENT ON COLUMN notification.dispatch_requests.look_at IS 'When the router is asked whether it has it; later after each announcement.';

COMMENT ON COLUMN notification.dispatch_requests.request IS 'JSON, as it was announced: ids and facts.';

CREATE TABLE notification.early_bounces (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    notification_id text NOT NULL COLLATE pg_catalog."C",
    attempt_id text NOT NULL COLLATE pg_catalog."C",
    bounced_at timestamp with time zone NOT NULL,
    lost boolean DEFAULT false NOT NULL,
    reason text NOT NULL
);

ALTER TABLE ONLY notification.early_bounces FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.early_bounces IS 'Bounces heard while the ladder was under way, or before its outcome was: what delivered may be another attempt.';

COMMENT ON COLUMN notification.early_bounces.attempt_id IS 'The attempt in the router, whose schema we do not read.';

COMMENT ON COLUMN notification.early_bounces.lost IS 'Its vendor only says that it did not arrive: it counts where nobody has said that it did.';

COMMENT ON COLUMN notification.early_bounces.reason IS 'A code.';

CREATE TABLE notification.erasures (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    erased_at timestamp with time zone NOT NULL,
    statement text NOT NULL,
    key_id text NOT NULL COLLATE pg_catalog."C",
    signature bytea NOT NULL,
    CONSTRAINT ck_erasures_id CHECK ((id ~ '^ers_[0-9A-HJKMNP-TV-Z]{26}$'::text))
);

ALTER TABLE ONLY notification.erasures FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.erasures IS 'Receipts of erasures: one for each recipient, written once and never changed.';

COMMENT ON COLUMN notification.erasures.statement IS 'JSON, exactly as it was signed: ids, times and counts. No name, no address, no hash of one.';

COMMENT ON COLUMN notification.erasures.signature IS 'Ed25519 over the statement, with the id of the key in front.';

CREATE TABLE notification.event_readers (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    types text[] NOT NULL,
    cursor text NOT NULL COLLATE pg_catalog."C",
    tests_only boolean DEFAULT false NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_event_readers_name CHECK ((name ~ '^[a-z][a-z0-9_.-]{0,99}$'::text))
)
WITH (fillfactor='70');

ALTER TABLE ONLY notification.event_readers FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.event_readers IS 'Readers of the feed of events, each with its place in it.';

COMMENT ON COLUMN notification.event_readers.name IS 'Not personal: a system''s own word for itself, such as crm.';

COMMENT ON COLUMN notification.event_readers.types IS 'The types that it reads, as NATS writes subjects.';

COMMENT ON COLUMN notification.event_readers.cursor IS 'What it has read; opaque, the bus knows what it means.';

COMMENT ON COLUMN notification.event_readers.tests_only IS 'Made with a test key: it reads events of tests.';

CREATE TABLE notification.idempotency_keys (
    tenant_id text COLLATE pg_catalog."C",
    scope text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    request_hash text NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT 'in_progress'::text NOT NULL,
    locked_until timestamp with time zone,
    status integer,
    response text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone DEFAULT (now() + '24:00:00'::interval) NOT NULL,
    CONSTRAINT ck_idempotency_keys_done CHECK (((state <> 'done'::text) OR ((status IS NOT NULL) AND (response IS NOT NULL)))),
    CONSTRAINT ck_idempotency_keys_key CHECK (((length(key) >= 1) AND (length(key) <= 255))),
    CONSTRAINT ck_idempotency_keys_state CHECK ((state = ANY (ARRAY['in_progress'::text, 'done'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.idempotency_keys REPLICA IDENTITY FULL;

ALTER TABLE ONLY notification.idempotency_keys FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.idempotency_keys IS 'Answers to requests that carried an Idempotency-Key. tenant_id null: a request of the platform.';

COMMENT ON COLUMN notification.idempotency_keys.locked_until IS 'While one request works, a second one with the same key waits or is told so; after this time it may take over.';

COMMENT ON COLUMN notification.idempotency_keys.response IS 'The body answered, replayed as it was: ids and states, no content, no secret.';

CREATE TABLE notification.import_problems (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    import_id text NOT NULL COLLATE pg_catalog."C",
    place bigint NOT NULL,
    line bigint NOT NULL,
    column_name text NOT NULL,
    code text NOT NULL,
    what text NOT NULL,
    severity text DEFAULT 'error'::text NOT NULL,
    CONSTRAINT ck_import_problems_severity CHECK ((severity = ANY (ARRAY['error'::text, 'warning'::text])))
);

ALTER TABLE ONLY notification.import_problems FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.import_problems IS 'What is wrong with lines: where and why, never what stood there.';

COMMENT ON COLUMN notification.import_problems.place IS 'Counts the problems of an import from 1.';

COMMENT ON COLUMN notification.import_problems.severity IS 'error: the line was not taken; warning: it was, without what is named.';

CREATE TABLE notification.import_seen (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    import_id text NOT NULL COLLATE pg_catalog."C",
    mark bytea NOT NULL
);

ALTER TABLE ONLY notification.import_seen FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.import_seen IS 'What the lines of a dry run were about; gone when it ends.';

COMMENT ON COLUMN notification.import_seen.mark IS 'Keyed under the tenant''s pepper and the import: it is found again in this import alone.';

CREATE TABLE notification.imports (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    status text DEFAULT 'running'::text NOT NULL,
    options text NOT NULL,
    format text DEFAULT ''::text NOT NULL,
    dry_run boolean NOT NULL,
    emit_events boolean NOT NULL,
    idempotency_key text COLLATE pg_catalog."C",
    actor text NOT NULL,
    runner text NOT NULL COLLATE pg_catalog."C",
    records_done bigint DEFAULT 0 NOT NULL,
    bytes_done bigint DEFAULT 0 NOT NULL,
    digest text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    added bigint DEFAULT 0 NOT NULL,
    changed bigint DEFAULT 0 NOT NULL,
    unchanged bigint DEFAULT 0 NOT NULL,
    refused bigint DEFAULT 0 NOT NULL,
    problems bigint DEFAULT 0 NOT NULL,
    warnings bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    completed_at timestamp with time zone,
    skipped bigint DEFAULT 0 NOT NULL,
    lines bigint,
    CONSTRAINT ck_imports_completed CHECK (((completed_at IS NULL) = (status <> 'completed'::text))),
    CONSTRAINT ck_imports_id CHECK ((id ~ '^imp_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_imports_kind CHECK ((kind = ANY (ARRAY['suppressions'::text, 'recipients'::text, 'preferences'::text]))),
    CONSTRAINT ck_imports_lines_accounted_for CHECK (((lines IS NULL) OR (lines = ((((added + changed) + unchanged) + refused) + skipped)))),
    CONSTRAINT ck_imports_status CHECK ((status = ANY (ARRAY['running'::text, 'interrupted'::text, 'completed'::text])))
);

ALTER TABLE ONLY notification.imports FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.imports IS 'Files that were taken in, how far each was read and what came of its lines.';

COMMENT ON COLUMN notification.imports.options IS 'What the caller asked for, as JSON.';

COMMENT ON COLUMN notification.imports.runner IS 'Who reads it; another who goes on with it takes over, and this one stops.';

COMMENT ON COLUMN notification.imports.records_done IS 'Lines, headings included, whose effect is committed.';

COMMENT ON COLUMN notification.imports.digest IS 'Of those lines, keyed under the tenant''s pepper: whoever goes on must bring the same file.';

COMMENT ON COLUMN notification.imports.warnings IS 'Of the problems, those that kept no line from being taken.';

COMMENT ON COLUMN notification.imports.skipped IS 'Headings, empty lines, and further lines of a cell that runs over several.';

COMMENT ON COLUMN notification.imports.lines IS 'Lines of the file that were read; NULL of an import that was begun before they were counted.';

CREATE TABLE notification.inbox_items (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    is_test boolean NOT NULL,
    place bigint NOT NULL,
    category text NOT NULL COLLATE pg_catalog."C",
    priority text NOT NULL COLLATE pg_catalog."C",
    tags text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    arrived_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    seen_at timestamp with time zone,
    read_at timestamp with time zone,
    archived_at timestamp with time zone,
    snoozed_until timestamp with time zone,
    acted_at timestamp with time zone,
    acted text COLLATE pg_catalog."C",
    removed_at timestamp with time zone,
    content bytea,
    version bigint DEFAULT 0 NOT NULL,
    CONSTRAINT ck_inbox_items_acted CHECK (((acted IS NULL) = (acted_at IS NULL))),
    CONSTRAINT ck_inbox_items_id CHECK (((id ~~ 'inb\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_inbox_items_priority CHECK ((priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_inbox_items_removed CHECK (((removed_at IS NULL) OR (content IS NULL)))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY notification.inbox_items ALTER COLUMN content SET STORAGE EXTERNAL;

ALTER TABLE ONLY notification.inbox_items FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.inbox_items IS 'What people find in the application. Named after its notification, so that one that is delivered twice is stored once.';

COMMENT ON COLUMN notification.inbox_items.created_at IS 'The time inside the id: that of the notification.';

COMMENT ON COLUMN notification.inbox_items.recipient_id IS 'Whose inbox it is in: the reader, who may be a guardian.';

COMMENT ON COLUMN notification.inbox_items.place IS 'Its place in the feed, the newest highest; another one when a snooze ends.';

COMMENT ON COLUMN notification.inbox_items.tags IS 'Words of the template, for filters; what is personal belongs into the content.';

COMMENT ON COLUMN notification.inbox_items.due_at IS 'When its snooze ends or it expires, whichever is first; null once it is removed.';

COMMENT ON COLUMN notification.inbox_items.acted IS 'The name of the action that was chosen.';

COMMENT ON COLUMN notification.inbox_items.removed_at IS 'Deleted or expired: the content is gone, and the row stays, so that a late repeat does not bring it back.';

COMMENT ON COLUMN notification.inbox_items.content IS 'Title, text, links and data, under the reader''s data key.';

COMMENT ON COLUMN notification.inbox_items.version IS 'The number of its last change in its inbox, never above `latest` there: what is above the one that a stream was told last is news to it.';

CREATE TABLE notification.inboxes (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    is_test boolean NOT NULL,
    unread integer DEFAULT 0 NOT NULL,
    unseen integer DEFAULT 0 NOT NULL,
    latest bigint DEFAULT 0 NOT NULL,
    tokens_from timestamp with time zone,
    CONSTRAINT ck_inboxes_counts CHECK (((unread >= 0) AND (unseen >= 0) AND (latest >= 0)))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.inboxes FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.inboxes IS 'A person''s in-app inbox: its counts, and the lock that every change of its items takes. Tests have one of their own.';

COMMENT ON COLUMN notification.inboxes.unread IS 'Items in view that were not read.';

COMMENT ON COLUMN notification.inboxes.unseen IS 'Items in view that were not seen.';

COMMENT ON COLUMN notification.inboxes.latest IS 'Grows with every change: the place of the newest item is never above it.';

COMMENT ON COLUMN notification.inboxes.tokens_from IS 'Inbox tokens that were made before this moment are void.';

CREATE TABLE notification.layouts (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_by text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT ck_layouts_name CHECK ((name ~ '^[a-z][a-z0-9_-]{0,63}$'::text))
);

ALTER TABLE ONLY notification.layouts FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.layouts IS 'Texts of a tenant that its templates share; compiled into a version when it is published.';

CREATE TABLE notification.notification_preferences (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    locale text NOT NULL,
    timezone text NOT NULL,
    channels jsonb DEFAULT '{}'::jsonb NOT NULL,
    quiet_hours jsonb,
    digest_schedule jsonb DEFAULT '{}'::jsonb NOT NULL,
    marketing_consent jsonb DEFAULT '{"granted": false}'::jsonb NOT NULL,
    guardian_routing jsonb,
    global_unsubscribed_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT ck_notification_preferences_consent CHECK ((jsonb_typeof((marketing_consent -> 'granted'::text)) = 'boolean'::text)),
    CONSTRAINT ck_notification_preferences_id CHECK ((id ~ '^rpf_[0-9A-HJKMNP-TV-Z]{26}$'::text))
);

ALTER TABLE ONLY notification.notification_preferences FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.notification_preferences IS 'What a recipient allows: channels and categories, quiet hours, digests, consent, guardian.';

COMMENT ON COLUMN notification.notification_preferences.channels IS 'Per channel: allow, and per category. What is absent follows the category''s default.';

COMMENT ON COLUMN notification.notification_preferences.marketing_consent IS 'granted, when, source, evidence. Denied until given. Evidence is a reference, not a copy of personal data.';

COMMENT ON COLUMN notification.notification_preferences.version IS 'ETag of the preferences; a notification notes which it was decided by.';

CREATE TABLE notification.notification_scheduled (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    priority text DEFAULT 'normal'::text NOT NULL,
    source_event_id text COLLATE pg_catalog."C",
    notification_id text COLLATE pg_catalog."C",
    recipient_id text COLLATE pg_catalog."C",
    payload_ciphertext bytea,
    run_after timestamp with time zone NOT NULL,
    obsolete boolean DEFAULT false NOT NULL,
    processed_at timestamp with time zone,
    claimed_by text,
    claimed_until timestamp with time zone,
    attempt_count integer DEFAULT 0 NOT NULL,
    last_error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    trigger_id text COLLATE pg_catalog."C",
    trigger_version integer,
    template_key text COLLATE pg_catalog."C",
    channel text COLLATE pg_catalog."C",
    event_type text COLLATE pg_catalog."C",
    event_source text COLLATE pg_catalog."C",
    event_subject text COLLATE pg_catalog."C",
    event_time timestamp with time zone,
    anchor text,
    anchor_offset text,
    local_time text,
    zone text,
    is_test boolean DEFAULT false NOT NULL,
    failed_at timestamp with time zone,
    obsolete_reason text,
    obsolete_event_id text COLLATE pg_catalog."C",
    CONSTRAINT ck_notification_scheduled_id CHECK (((id ~~ 'sch\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_notification_scheduled_priority CHECK ((priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY notification.notification_scheduled FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.notification_scheduled IS 'Queue of work with a due time.';

COMMENT ON COLUMN notification.notification_scheduled.kind IS 'scheduled_send; quiet_hours, rate_limit and other gates that put a notification off; trigger: planned, and no notification yet.';

COMMENT ON COLUMN notification.notification_scheduled.payload_ciphertext IS 'The order of what is planned, until it is over; kept where it failed. Under the recipient''s key, or the tenant''s where no recipient is known.';

COMMENT ON COLUMN notification.notification_scheduled.processed_at IS 'Since when it is over: sent on its way, obsolete or failed.';

COMMENT ON COLUMN notification.notification_scheduled.claimed_until IS 'Lease of the worker that holds it; free again afterwards.';

COMMENT ON COLUMN notification.notification_scheduled.attempt_count IS 'How often it failed.';

COMMENT ON COLUMN notification.notification_scheduled.last_error IS 'Code and ids only: the worker role reads it.';

COMMENT ON COLUMN notification.notification_scheduled.trigger_id IS 'Which trigger planned it; null for what waits for its notification.';

COMMENT ON COLUMN notification.notification_scheduled.event_subject IS 'What the event is about; with its source it finds what a later event moves or clears.';

COMMENT ON COLUMN notification.notification_scheduled.anchor IS 'The moment or day that the time is reckoned from, as the event has it.';

COMMENT ON COLUMN notification.notification_scheduled.anchor_offset IS 'From the anchor, as an ISO 8601 duration with a sign.';

COMMENT ON COLUMN notification.notification_scheduled.local_time IS 'The hour of the day in the zone; null: whatever hour the offset leads to.';

COMMENT ON COLUMN notification.notification_scheduled.zone IS 'The person''s time zone that run_after was reckoned in; null where no zone matters.';

COMMENT ON COLUMN notification.notification_scheduled.failed_at IS 'Since when it is given up; processed_at is set too.';

COMMENT ON COLUMN notification.notification_scheduled.obsolete_reason IS 'cancelled_by, replanned, cancelled, erased…';

CREATE TABLE notification.notification_trigger_map (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    scope text NOT NULL,
    consumed_event_type text NOT NULL COLLATE pg_catalog."C",
    channel text DEFAULT 'auto'::text NOT NULL,
    template_key text NOT NULL COLLATE pg_catalog."C",
    recipient_resolver text NOT NULL,
    priority text,
    category text COLLATE pg_catalog."C",
    schedule_offset_seconds integer DEFAULT 0 NOT NULL,
    schedule_anchor text,
    enabled boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    title text,
    set_name text COLLATE pg_catalog."C",
    set_key text COLLATE pg_catalog."C",
    variables text DEFAULT '{}'::text NOT NULL,
    anchor_offset text,
    local_time text,
    condition text,
    subject_path text,
    cancelled_by text[] DEFAULT '{}'::text[] NOT NULL,
    replanned_by text[] DEFAULT '{}'::text[] NOT NULL,
    customises text COLLATE pg_catalog."C",
    deleted_at timestamp with time zone,
    CONSTRAINT ck_notification_trigger_map_channel CHECK ((channel = ANY (ARRAY['auto'::text, 'email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_notification_trigger_map_id CHECK ((id ~ '^trg_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_notification_trigger_map_priority CHECK ((priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_notification_trigger_map_scope CHECK (((scope = ANY (ARRAY['platform'::text, 'tenant'::text])) AND ((scope = 'platform'::text) = (tenant_id IS NULL))))
);

ALTER TABLE ONLY notification.notification_trigger_map FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.notification_trigger_map IS 'Rules: event type to template, recipient, channel, time.';

COMMENT ON COLUMN notification.notification_trigger_map.recipient_resolver IS 'JSON: a path into the event, a named resolver (primary_guest, tenant_admins, iam_subject, vendor_assignee), or a list of these.';

COMMENT ON COLUMN notification.notification_trigger_map.priority IS 'Null: the template''s own.';

COMMENT ON COLUMN notification.notification_trigger_map.category IS 'Null: the template''s own.';

COMMENT ON COLUMN notification.notification_trigger_map.schedule_offset_seconds IS 'The same in seconds, with months of 30 days, for those who query; anchor_offset is what counts.';

COMMENT ON COLUMN notification.notification_trigger_map.schedule_anchor IS 'The path in the event that the time is reckoned from; null: the event''s own time.';

COMMENT ON COLUMN notification.notification_trigger_map.set_name IS 'Not personal: the set of triggers that it was shipped with, such as hotel.';

COMMENT ON COLUMN notification.notification_trigger_map.set_key IS 'What it is known by within its set, from release to release.';

COMMENT ON COLUMN notification.notification_trigger_map.variables IS 'JSON: what the template gets; a text that begins with $. is a path into the event.';

COMMENT ON COLUMN notification.notification_trigger_map.anchor_offset IS 'From the anchor, as an ISO 8601 duration with a sign; null: none.';

COMMENT ON COLUMN notification.notification_trigger_map.local_time IS 'The hour of the day where the person is.';

COMMENT ON COLUMN notification.notification_trigger_map.customises IS 'The platform''s trigger that this one of a tenant takes the place of.';

COMMENT ON COLUMN notification.notification_trigger_map.deleted_at IS 'Kept, because firings and planned work name it.';

CREATE TABLE notification.notifications (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    retention_class text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    scheduled_for timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    dispatched_at timestamp with time zone,
    delivered_at timestamp with time zone,
    failed_at timestamp with time zone,
    bounced_at timestamp with time zone,
    suppressed_at timestamp with time zone,
    superseded_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    expired_at timestamp with time zone,
    opened_at timestamp with time zone,
    clicked_at timestamp with time zone,
    read_at timestamp with time zone,
    source_event_produced_at timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    preference_version integer,
    is_test boolean DEFAULT false NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    final_channel text COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    use_case text NOT NULL COLLATE pg_catalog."C",
    priority text DEFAULT 'normal'::text NOT NULL COLLATE pg_catalog."C",
    locale text COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    template_id text NOT NULL COLLATE pg_catalog."C",
    template_version_id text NOT NULL COLLATE pg_catalog."C",
    template_key text NOT NULL COLLATE pg_catalog."C",
    template_semver text NOT NULL COLLATE pg_catalog."C",
    address_hash text COLLATE pg_catalog."C",
    address_ciphertext bytea,
    sender text,
    render_snapshot text,
    body_ref text,
    variables_hash text NOT NULL COLLATE pg_catalog."C",
    variables_ciphertext bytea,
    source_event_id text COLLATE pg_catalog."C",
    source_event_type text COLLATE pg_catalog."C",
    correlation_id text COLLATE pg_catalog."C",
    batch_id text COLLATE pg_catalog."C",
    digest_group_id text COLLATE pg_catalog."C",
    suppression_reason text,
    failure_reason text,
    delivery_evidence text,
    decision_trace text,
    metadata text,
    attachments_ciphertext bytea,
    template_versions text,
    pinned text,
    traceparent text COLLATE pg_catalog."C",
    resent_from text COLLATE pg_catalog."C",
    delivering_attempt_id text COLLATE pg_catalog."C",
    digest_key text COLLATE pg_catalog."C",
    CONSTRAINT ck_notifications_channel CHECK ((channel = ANY (ARRAY['auto'::text, 'email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_notifications_evidence CHECK ((delivery_evidence = ANY (ARRAY['accepted'::text, 'sent'::text, 'delivered'::text, 'read'::text]))),
    CONSTRAINT ck_notifications_final_channel CHECK ((final_channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_notifications_id CHECK (((id ~~ 'ntf\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_notifications_priority CHECK ((priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_notifications_status CHECK ((status = ANY (ARRAY['queued'::text, 'scheduled'::text, 'dispatched'::text, 'delivered'::text, 'failed'::text, 'bounced'::text, 'suppressed'::text, 'superseded'::text, 'cancelled'::text, 'expired'::text]))),
    CONSTRAINT ck_notifications_use_case CHECK ((use_case = ANY (ARRAY['otp'::text, 'txn'::text, 'marketing'::text, 'alert'::text, 'conversational'::text])))
)
PARTITION BY LIST (retention_class);

ALTER TABLE ONLY notification.notifications ALTER COLUMN variables_ciphertext SET STORAGE EXTERNAL;

ALTER TABLE ONLY notification.notifications FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.notifications IS 'One message to one recipient, from acceptance to its end.';

COMMENT ON COLUMN notification.notifications.retention_class IS 'Copied from the category at acceptance; never changes.';

COMMENT ON COLUMN notification.notifications.created_at IS 'The time inside the id, in milliseconds. No default: it comes with the id.';

COMMENT ON COLUMN notification.notifications.status IS 'Moves forward only. Rendering and sending are phases of a held lease; opened and clicked are times.';

COMMENT ON COLUMN notification.notifications.channel IS 'As asked for; auto lets the router''s ladder choose.';

COMMENT ON COLUMN notification.notifications.final_channel IS 'The channel that delivered.';

COMMENT ON COLUMN notification.notifications.locale IS 'As asked for, or as it was rendered in; null until then: the recipient''s.';

COMMENT ON COLUMN notification.notifications.address_hash IS 'The address last written to, under the tenant''s pepper; null until a step was prepared.';

COMMENT ON COLUMN notification.notifications.address_ciphertext IS 'The same, a JSON list under the key of whoever was written to: render_snapshot names them where it is not the recipient.';

COMMENT ON COLUMN notification.notifications.sender IS 'JSON: the sender of the step that was prepared last.';

COMMENT ON COLUMN notification.notifications.render_snapshot IS 'JSON: language, time zone, digest, size, address ids of the step that was prepared last. No text of the message.';

COMMENT ON COLUMN notification.notifications.body_ref IS 'JSON: by channel, where its exact words are: an object in the blob store and a place in it, under the key of whoever was written to. Kept 7 years. Null where the category is not regulated.';

COMMENT ON COLUMN notification.notifications.variables_ciphertext IS 'Under the recipient''s data key.';

COMMENT ON COLUMN notification.notifications.digest_group_id IS 'The digest window this notification was an item of.';

COMMENT ON COLUMN notification.notifications.delivery_evidence IS 'What delivered rests on; accepted where the channel has no receipts.';

COMMENT ON COLUMN notification.notifications.decision_trace IS 'Compact lines, one per decision; reasons and versions, no content.';

COMMENT ON COLUMN notification.notifications.metadata IS 'JSON of the caller, returned as given: not for personal data.';

COMMENT ON COLUMN notification.notifications.attachments_ciphertext IS 'JSON under the recipient''s key: names, types, and where the sealed objects are in the blob store.';

COMMENT ON COLUMN notification.notifications.template_versions IS 'JSON, for auto: the frozen version of every channel. Null: template_version_id is the only one.';

COMMENT ON COLUMN notification.notifications.pinned IS 'JSON, of an answer within a conversation: the address by its id, and the vendor and sender that the person wrote to. Null: the first choices.';

COMMENT ON COLUMN notification.notifications.traceparent IS 'W3C: the trace and span of the request that ordered it.';

COMMENT ON COLUMN notification.notifications.resent_from IS 'The notification that this one repeats, for a person who asked for it again.';

COMMENT ON COLUMN notification.notifications.delivering_attempt_id IS 'The attempt in the router that delivered it. Null: not delivered, or settled before this column was there.';

COMMENT ON COLUMN notification.notifications.digest_key IS 'Not personal: the caller''s own word that tells several digests of one category apart; null for the usual one.';

CREATE TABLE notification.notifications_marketing (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    retention_class text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    scheduled_for timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    dispatched_at timestamp with time zone,
    delivered_at timestamp with time zone,
    failed_at timestamp with time zone,
    bounced_at timestamp with time zone,
    suppressed_at timestamp with time zone,
    superseded_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    expired_at timestamp with time zone,
    opened_at timestamp with time zone,
    clicked_at timestamp with time zone,
    read_at timestamp with time zone,
    source_event_produced_at timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    preference_version integer,
    is_test boolean DEFAULT false NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    final_channel text COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    use_case text NOT NULL COLLATE pg_catalog."C",
    priority text DEFAULT 'normal'::text NOT NULL COLLATE pg_catalog."C",
    locale text COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    template_id text NOT NULL COLLATE pg_catalog."C",
    template_version_id text NOT NULL COLLATE pg_catalog."C",
    template_key text NOT NULL COLLATE pg_catalog."C",
    template_semver text NOT NULL COLLATE pg_catalog."C",
    address_hash text COLLATE pg_catalog."C",
    address_ciphertext bytea,
    sender text,
    render_snapshot text,
    body_ref text,
    variables_hash text NOT NULL COLLATE pg_catalog."C",
    variables_ciphertext bytea,
    source_event_id text COLLATE pg_catalog."C",
    source_event_type text COLLATE pg_catalog."C",
    correlation_id text COLLATE pg_catalog."C",
    batch_id text COLLATE pg_catalog."C",
    digest_group_id text COLLATE pg_catalog."C",
    suppression_reason text,
    failure_reason text,
    delivery_evidence text,
    decision_trace text,
    metadata text,
    attachments_ciphertext bytea,
    template_versions text,
    pinned text,
    traceparent text COLLATE pg_catalog."C",
    resent_from text COLLATE pg_catalog."C",
    delivering_attempt_id text COLLATE pg_catalog."C",
    digest_key text COLLATE pg_catalog."C",
    CONSTRAINT ck_notifications_channel CHECK ((channel = ANY (ARRAY['auto'::text, 'email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_notifications_evidence CHECK ((delivery_evidence = ANY (ARRAY['accepted'::text, 'sent'::text, 'delivered'::text, 'read'::text]))),
    CONSTRAINT ck_notifications_final_channel CHECK ((final_channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_notifications_id CHECK (((id ~~ 'ntf\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_notifications_priority CHECK ((priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_notifications_status CHECK ((status = ANY (ARRAY['queued'::text, 'scheduled'::text, 'dispatched'::text, 'delivered'::text, 'failed'::text, 'bounced'::text, 'suppressed'::text, 'superseded'::text, 'cancelled'::text, 'expired'::text]))),
    CONSTRAINT ck_notifications_use_case CHECK ((use_case = ANY (ARRAY['otp'::text, 'txn'::text, 'marketing'::text, 'alert'::text, 'conversational'::text])))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY notification.notifications_marketing ALTER COLUMN variables_ciphertext SET STORAGE EXTERNAL;

ALTER TABLE ONLY notification.notifications_marketing FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.notifications_marketing IS 'Notifications that age fastest.';

CREATE TABLE notification.notifications_regulated (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    retention_class text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    scheduled_for timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    dispatched_at timestamp with time zone,
    delivered_at timestamp with time zone,
    failed_at timestamp with time zone,
    bounced_at timestamp with time zone,
    suppressed_at timestamp with time zone,
    superseded_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    expired_at timestamp with time zone,
    opened_at timestamp with time zone,
    clicked_at timestamp with time zone,
    read_at timestamp with time zone,
    source_event_produced_at timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    preference_version integer,
    is_test boolean DEFAULT false NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    final_channel text COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    use_case text NOT NULL COLLATE pg_catalog."C",
    priority text DEFAULT 'normal'::text NOT NULL COLLATE pg_catalog."C",
    locale text COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    template_id text NOT NULL COLLATE pg_catalog."C",
    template_version_id text NOT NULL COLLATE pg_catalog."C",
    template_key text NOT NULL COLLATE pg_catalog."C",
    template_semver text NOT NULL COLLATE pg_catalog."C",
    address_hash text COLLATE pg_catalog."C",
    address_ciphertext bytea,
    sender text,
    render_snapshot text,
    body_ref text,
    variables_hash text NOT NULL COLLATE pg_catalog."C",
    variables_ciphertext bytea,
    source_event_id text COLLATE pg_catalog."C",
    source_event_type text COLLATE pg_catalog."C",
    correlation_id text COLLATE pg_catalog."C",
    batch_id text COLLATE pg_catalog."C",
    digest_group_id text COLLATE pg_catalog."C",
    suppression_reason text,
    failure_reason text,
    delivery_evidence text,
    decision_trace text,
    metadata text,
    attachments_ciphertext bytea,
    template_versions text,
    pinned text,
    traceparent text COLLATE pg_catalog."C",
    resent_from text COLLATE pg_catalog."C",
    delivering_attempt_id text COLLATE pg_catalog."C",
    digest_key text COLLATE pg_catalog."C",
    CONSTRAINT ck_notifications_channel CHECK ((channel = ANY (ARRAY['auto'::text, 'email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_notifications_evidence CHECK ((delivery_evidence = ANY (ARRAY['accepted'::text, 'sent'::text, 'delivered'::text, 'read'::text]))),
    CONSTRAINT ck_notifications_final_channel CHECK ((final_channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_notifications_id CHECK (((id ~~ 'ntf\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_notifications_priority CHECK ((priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_notifications_status CHECK ((status = ANY (ARRAY['queued'::text, 'scheduled'::text, 'dispatched'::text, 'delivered'::text, 'failed'::text, 'bounced'::text, 'suppressed'::text, 'superseded'::text, 'cancelled'::text, 'expired'::text]))),
    CONSTRAINT ck_notifications_use_case CHECK ((use_case = ANY (ARRAY['otp'::text, 'txn'::text, 'marketing'::text, 'alert'::text, 'conversational'::text])))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY notification.notifications_regulated ALTER COLUMN variables_ciphertext SET STORAGE EXTERNAL;

ALTER TABLE ONLY notification.notifications_regulated FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.notifications_regulated IS 'Notifications kept longest: money, law, security.';

CREATE TABLE notification.notifications_standard (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    retention_class text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    scheduled_for timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    dispatched_at timestamp with time zone,
    delivered_at timestamp with time zone,
    failed_at timestamp with time zone,
    bounced_at timestamp with time zone,
    suppressed_at timestamp with time zone,
    superseded_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    expired_at timestamp with time zone,
    opened_at timestamp with time zone,
    clicked_at timestamp with time zone,
    read_at timestamp with time zone,
    source_event_produced_at timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    preference_version integer,
    is_test boolean DEFAULT false NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    final_channel text COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    use_case text NOT NULL COLLATE pg_catalog."C",
    priority text DEFAULT 'normal'::text NOT NULL COLLATE pg_catalog."C",
    locale text COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    template_id text NOT NULL COLLATE pg_catalog."C",
    template_version_id text NOT NULL COLLATE pg_catalog."C",
    template_key text NOT NULL COLLATE pg_catalog."C",
    template_semver text NOT NULL COLLATE pg_catalog."C",
    address_hash text COLLATE pg_catalog."C",
    address_ciphertext bytea,
    sender text,
    render_snapshot text,
    body_ref text,
    variables_hash text NOT NULL COLLATE pg_catalog."C",
    variables_ciphertext bytea,
    source_event_id text COLLATE pg_catalog."C",
    source_event_type text COLLATE pg_catalog."C",
    correlation_id text COLLATE pg_catalog."C",
    batch_id text COLLATE pg_catalog."C",
    digest_group_id text COLLATE pg_catalog."C",
    suppression_reason text,
    failure_reason text,
    delivery_evidence text,
    decision_trace text,
    metadata text,
    attachments_ciphertext bytea,
    template_versions text,
    pinned text,
    traceparent text COLLATE pg_catalog."C",
    resent_from text COLLATE pg_catalog."C",
    delivering_attempt_id text COLLATE pg_catalog."C",
    digest_key text COLLATE pg_catalog."C",
    CONSTRAINT ck_notifications_channel CHECK ((channel = ANY (ARRAY['auto'::text, 'email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_notifications_evidence CHECK ((delivery_evidence = ANY (ARRAY['accepted'::text, 'sent'::text, 'delivered'::text, 'read'::text]))),
    CONSTRAINT ck_notifications_final_channel CHECK ((final_channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_notifications_id CHECK (((id ~~ 'ntf\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_notifications_priority CHECK ((priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_notifications_status CHECK ((status = ANY (ARRAY['queued'::text, 'scheduled'::text, 'dispatched'::text, 'delivered'::text, 'failed'::text, 'bounced'::text, 'suppressed'::text, 'superseded'::text, 'cancelled'::text, 'expired'::text]))),
    CONSTRAINT ck_notifications_use_case CHECK ((use_case = ANY (ARRAY['otp'::text, 'txn'::text, 'marketing'::text, 'alert'::text, 'conversational'::text])))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY notification.notifications_standard ALTER COLUMN variables_ciphertext SET STORAGE EXTERNAL;

ALTER TABLE ONLY notification.notifications_standard FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.notifications_standard IS 'Notifications of the ordinary kind.';

CREATE TABLE notification.opt_out_tokens (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    category text COLLATE pg_catalog."C",
    token_hash text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    consumed_at timestamp with time zone,
    purpose text DEFAULT 'opt_out'::text NOT NULL,
    address_hash text COLLATE pg_catalog."C",
    CONSTRAINT ck_opt_out_tokens_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_opt_out_tokens_hash CHECK ((token_hash ~ '^sha256:[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_opt_out_tokens_id CHECK ((id ~ '^oot_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_opt_out_tokens_purpose CHECK ((purpose = ANY (ARRAY['opt_out'::text, 'confirm'::text])))
);

ALTER TABLE ONLY notification.opt_out_tokens FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.opt_out_tokens IS 'Unsubscribe and preference-page tokens; the token carries its tenant inside.';

COMMENT ON COLUMN notification.opt_out_tokens.category IS 'Null: every category that can be unsubscribed from.';

COMMENT ON COLUMN notification.opt_out_tokens.consumed_at IS 'First use. The page stays usable until expires_at.';

COMMENT ON COLUMN notification.opt_out_tokens.purpose IS 'opt_out: /u and /p; confirm: /c, for double opt-in.';

COMMENT ON COLUMN notification.opt_out_tokens.address_hash IS 'The address that the message went to; null for links of older messages, and where it went to several devices.';

CREATE TABLE notification.outbox (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    ordering_key text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL,
    envelope text NOT NULL,
    enqueued_at timestamp with time zone DEFAULT now() NOT NULL,
    publish_attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    applied_by text COLLATE pg_catalog."C",
    CONSTRAINT ck_outbox_id CHECK (((id ~~ 'evt\_%'::text) AND (length(id) = 30)))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY notification.outbox FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.outbox IS 'Events of notify, written with the change they announce; the relay moves them to the bus.';

COMMENT ON COLUMN notification.outbox.seq IS 'Given at insert, visible at commit: a lower number may appear after a higher one. The relay deletes what it moved.';

COMMENT ON COLUMN notification.outbox.payload IS 'JSON: the event''s data. Ids and facts; no address, no body, no secret.';

COMMENT ON COLUMN notification.outbox.envelope IS 'JSON: the CloudEvents attributes that the other columns do not say. Rows of before have all of them.';

COMMENT ON COLUMN notification.outbox.applied_by IS 'The consumer group that has applied it in the transaction that wrote it.';

ALTER TABLE notification.outbox ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME notification.outbox_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE notification.received_event_ledger (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    identity_hash bytea NOT NULL,
    event_id text NOT NULL COLLATE pg_catalog."C",
    expires_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.received_event_ledger FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.received_event_ledger IS 'Which events have been received: one for each sender, source and id.';

COMMENT ON COLUMN notification.received_event_ledger.identity_hash IS 'SHA-256 of who sent it (the tenant live, the tenant in tests, the platform), its source and its id there.';

COMMENT ON COLUMN notification.received_event_ledger.expires_at IS 'It outlives the bus''s retention plus the longest schedule offset.';

CREATE TABLE notification.received_events (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    received_at timestamp with time zone NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    source_event_id text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    subject text COLLATE pg_catalog."C",
    happened_at timestamp with time zone NOT NULL,
    is_test boolean DEFAULT false NOT NULL,
    content_ciphertext bytea NOT NULL,
    CONSTRAINT ck_received_events_id CHECK (((id ~~ 'evt\_%'::text) AND (length(id) = 30)))
)
PARTITION BY RANGE (received_at);

ALTER TABLE ONLY notification.received_events FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.received_events IS 'Events that other systems sent. One partition a day, dropped after fifteen: a day later than dead letters are.';

COMMENT ON COLUMN notification.received_events.id IS 'Ours; the event that announces it on the bus has the same.';

COMMENT ON COLUMN notification.received_events.received_at IS 'The time inside the id.';

COMMENT ON COLUMN notification.received_events.source_event_id IS 'The sender''s own: with the source it says which event this is.';

COMMENT ON COLUMN notification.received_events.happened_at IS 'The CloudEvents attribute time; received_at where the sender left it out.';

COMMENT ON COLUMN notification.received_events.content_ciphertext IS 'Data and extension attributes, which may be about people: sealed with the tenant''s key for events.';

CREATE TABLE notification.recipient_addresses (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    recipient_id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    address_hash text NOT NULL COLLATE pg_catalog."C",
    address_ciphertext bytea NOT NULL,
    is_primary boolean DEFAULT false NOT NULL,
    verified boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_recipient_addresses_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_recipient_addresses_hash CHECK ((address_hash ~ '^sha256:[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_recipient_addresses_id CHECK ((id ~ '^rad_[0-9A-HJKMNP-TV-Z]{26}$'::text))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.recipient_addresses FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.recipient_addresses IS 'Addresses of a recipient, per channel; two recipients may share one.';

COMMENT ON COLUMN notification.recipient_addresses.address_hash IS 'sha256: and the hex of HMAC-SHA256 under the tenant''s pepper. Outlives erasure, for suppression.';

CREATE TABLE notification.recipients (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    identity_type text,
    identity_id text COLLATE pg_catalog."C",
    display_name_ciphertext bytea,
    primary_locale text DEFAULT 'en-US'::text NOT NULL,
    primary_timezone text DEFAULT 'UTC'::text NOT NULL,
    tags text[] DEFAULT ARRAY[]::text[] NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    erased_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT ck_recipients_attributes CHECK ((jsonb_typeof(attributes) = 'object'::text)),
    CONSTRAINT ck_recipients_id CHECK ((id ~ '^rcp_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_recipients_identity_type CHECK ((identity_type = ANY (ARRAY['guest'::text, 'user'::text, 'vendor'::text, 'anonymous'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.recipients FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.recipients IS 'People, and what is known of them without knowing who they are.';

COMMENT ON COLUMN notification.recipients.identity_id IS 'Id in the caller''s own system. Null for somebody known by address only; such rows are all distinct.';

COMMENT ON COLUMN notification.recipients.display_name_ciphertext IS 'Under the recipient''s data key.';

COMMENT ON COLUMN notification.recipients.attributes IS 'Queryable by batches, and therefore in the clear: not for personal data.';

COMMENT ON COLUMN notification.recipients.erased_at IS 'The data key was destroyed then; ciphertexts can no longer be read.';

CREATE TABLE notification.searchable_metadata (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    notification_id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    value_hash text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT ck_searchable_metadata_hash CHECK ((value_hash ~ '^sha256:[0-9a-f]{64}$'::text))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY notification.searchable_metadata FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.searchable_metadata IS 'What notifications are found by: values of the metadata keys that their tenant declared searchable.';

COMMENT ON COLUMN notification.searchable_metadata.created_at IS 'The time inside the notification''s id.';

COMMENT ON COLUMN notification.searchable_metadata.value_hash IS 'Under the tenant''s pepper, together with the key; the value is not kept here.';

CREATE TABLE notification.soft_bounces (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    target_id text NOT NULL COLLATE pg_catalog."C",
    notification_id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    address_hash text NOT NULL COLLATE pg_catalog."C",
    bounced_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_soft_bounces_hash CHECK ((address_hash ~ '^sha256:[0-9a-f]{64}$'::text))
);

ALTER TABLE ONLY notification.soft_bounces FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.soft_bounces IS 'Messages that came back softly, by address; some within a while suppress it. Swept after that while.';

COMMENT ON COLUMN notification.soft_bounces.target_id IS 'The recipient''s address that it went to.';

COMMENT ON COLUMN notification.soft_bounces.notification_id IS 'A message counts once, however often its vendor tells of it.';

COMMENT ON COLUMN notification.soft_bounces.bounced_at IS 'As the vendor says, and never after we heard it.';

CREATE TABLE notification.suppression_counts (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    bucket bigint NOT NULL,
    n bigint NOT NULL
);

ALTER TABLE ONLY notification.suppression_counts FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.suppression_counts IS 'How many suppressions are in force, by channel and reason; kept by a trigger.';

COMMENT ON COLUMN notification.suppression_counts.bucket IS '0, or the transaction that changed the count.';

CREATE TABLE notification.suppressions (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    address_hash text NOT NULL COLLATE pg_catalog."C",
    address_ciphertext bytea,
    reason text NOT NULL,
    source_notification_id text COLLATE pg_catalog."C",
    notes text,
    expires_at timestamp with time zone,
    released_at timestamp with time zone,
    released_by text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    occurred_at timestamp with time zone,
    CONSTRAINT ck_suppressions_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text]))),
    CONSTRAINT ck_suppressions_hash CHECK ((address_hash ~ '^sha256:[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_suppressions_id CHECK ((id ~ '^sup_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_suppressions_reason CHECK ((reason = ANY (ARRAY['hard_bounce'::text, 'soft_bounce'::text, 'complaint'::text, 'invalid_address'::text, 'opt_out'::text, 'manual'::text, 'compliance'::text, 'rate_limit'::text]))),
    CONSTRAINT ck_suppressions_release CHECK (((released_at IS NULL) = (released_by IS NULL)))
);

ALTER TABLE ONLY notification.suppressions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.suppressions IS 'Addresses a tenant must not write to; released, never deleted.';

COMMENT ON COLUMN notification.suppressions.address_ciphertext IS 'Under the tenant''s key, for reinstatement; null when it came as a hash or its recipient was erased.';

COMMENT ON COLUMN notification.suppressions.reason IS 'soft_bounce: after the threshold of soft bounces.';

COMMENT ON COLUMN notification.suppressions.expires_at IS 'Null: for good.';

COMMENT ON COLUMN notification.suppressions.occurred_at IS 'When another service suppressed it, by its list, or its owner wrote that they want no more; null: when it was added here.';

CREATE TABLE notification.template_assets (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    version_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    content bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_template_assets_name CHECK ((name ~ '^[a-z0-9._-]{1,80}$'::text)),
    CONSTRAINT ck_template_assets_size CHECK (((octet_length(content) >= 1) AND (octet_length(content) <= 524288)))
);

ALTER TABLE ONLY notification.template_assets ALTER COLUMN content SET STORAGE EXTERNAL;

ALTER TABLE ONLY notification.template_assets FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.template_assets IS 'Pictures of a version, in the clear; they travel inside the mails that show them. Frozen once it is published.';

CREATE TABLE notification.template_versions (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    template_id text NOT NULL COLLATE pg_catalog."C",
    semver text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'draft'::text NOT NULL,
    source text NOT NULL,
    ai_provenance jsonb,
    created_by text NOT NULL,
    approver_user_id text,
    approved_at timestamp with time zone,
    supersedes_id text COLLATE pg_catalog."C",
    variables_schema jsonb NOT NULL,
    fallback_chain text[] DEFAULT ARRAY[]::text[] NOT NULL,
    preview_samples jsonb,
    locales jsonb NOT NULL,
    published_at timestamp with time zone,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    partials jsonb DEFAULT '{}'::jsonb NOT NULL,
    strings jsonb DEFAULT '{}'::jsonb NOT NULL,
    layout text COLLATE pg_catalog."C",
    assets jsonb DEFAULT '{}'::jsonb NOT NULL,
    sample_names text[] DEFAULT ARRAY[]::text[] NOT NULL,
    CONSTRAINT ck_template_versions_ai_approved CHECK (((source <> 'ai_drafted'::text) OR (status <> 'active'::text) OR ((approver_user_id IS NOT NULL) AND (approver_user_id <> created_by)))),
    CONSTRAINT ck_template_versions_id CHECK ((id ~ '^tpv_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_template_versions_semver CHECK ((semver ~ '^[0-9]+\.[0-9]+\.[0-9]+'::text)),
    CONSTRAINT ck_template_versions_source CHECK ((source = ANY (ARRAY['platform'::text, 'tenant'::text, 'ai_drafted'::text]))),
    CONSTRAINT ck_template_versions_status CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'archived'::text])))
);

ALTER TABLE ONLY notification.template_versions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.template_versions IS 'Versions of a tenant''s template: draft, active, archived; content frozen once active.';

COMMENT ON COLUMN notification.template_versions.created_by IS 'Author, or requester of an AI draft, who cannot be its approver.';

COMMENT ON COLUMN notification.template_versions.locales IS 'Per locale: subject, preheader, body, text alternative, body format, direction.';

COMMENT ON COLUMN notification.template_versions.partials IS 'By name: texts that the others call.';

COMMENT ON COLUMN notification.template_versions.strings IS 'By locale and name: what {{t "name"}} prints.';

COMMENT ON COLUMN notification.template_versions.layout IS 'The tenant''s layout that bodies are set into; its text is compiled into locales at publishing.';

COMMENT ON COLUMN notification.template_versions.assets IS 'By name: media type, size and hash of each picture; whoever reads a version knows whether there are any.';

COMMENT ON COLUMN notification.template_versions.sample_names IS 'The names of preview_samples as they were written: the first is shown unless another is asked for. Empty: by name.';

CREATE TABLE notification.templates (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    category text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'active'::text NOT NULL,
    active_version_id text COLLATE pg_catalog."C",
    default_locale text NOT NULL,
    fallback_chain text[] DEFAULT ARRAY[]::text[] NOT NULL,
    default_priority text DEFAULT 'normal'::text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    platform_semver text COLLATE pg_catalog."C",
    CONSTRAINT ck_templates_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_templates_id CHECK ((id ~ '^tpl_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_templates_priority CHECK ((default_priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_templates_status CHECK ((status = ANY (ARRAY['active'::text, 'archived'::text])))
);

ALTER TABLE ONLY notification.templates FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.templates IS 'A tenant''s templates; one wins over the platform''s of the same key and channel.';

COMMENT ON COLUMN notification.templates.active_version_id IS 'The published version. No foreign key: the two tables would refer to each other.';

COMMENT ON COLUMN notification.templates.platform_semver IS 'The platform''s version that it was customised from last; null: it is the tenant''s own from the beginning.';

CREATE TABLE notification.tenants_local (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    slug text,
    name text,
    region text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    frozen_at timestamp with time zone,
    default_locale text DEFAULT 'en-US'::text NOT NULL,
    default_timezone text DEFAULT 'UTC'::text NOT NULL,
    notification_policy jsonb DEFAULT '{}'::jsonb NOT NULL,
    theme_etag text DEFAULT ''::text NOT NULL,
    weight integer DEFAULT 1 NOT NULL,
    event_version bigint DEFAULT 0 NOT NULL,
    last_event_id text COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_tenants_local_status CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text, 'deleting'::text]))),
    CONSTRAINT ck_tenants_local_tenant_id CHECK ((tenant_id ~ '^tnt_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_tenants_local_weight CHECK (((weight >= 1) AND (weight <= 1000)))
);

ALTER TABLE ONLY notification.tenants_local FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.tenants_local IS 'Projection of tenant events; not authoritative.';

COMMENT ON COLUMN notification.tenants_local.frozen_at IS 'Set while frozen: new API writes get 423, accepted work drains. Independent of status.';

COMMENT ON COLUMN notification.tenants_local.notification_policy IS 'Tenant defaults: quiet hours, limits, allowed links and domains, retention.';

COMMENT ON COLUMN notification.tenants_local.weight IS 'Share of turns when workers claim fairly between tenants.';

COMMENT ON COLUMN notification.tenants_local.event_version IS 'Version of the last tenant event applied; an event that is not newer changes nothing.';

CREATE TABLE notification.trigger_choices (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    trigger_id text NOT NULL COLLATE pg_catalog."C",
    enabled boolean NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY notification.trigger_choices FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.trigger_choices IS 'Which of the platform''s triggers a tenant has switched on or off.';

CREATE TABLE notification.trigger_firings (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    event_type text NOT NULL COLLATE pg_catalog."C",
    event_source text NOT NULL COLLATE pg_catalog."C",
    event_subject text COLLATE pg_catalog."C",
    event_time timestamp with time zone NOT NULL,
    trigger_id text NOT NULL COLLATE pg_catalog."C",
    trigger_version integer NOT NULL,
    template_key text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    recipient_id text COLLATE pg_catalog."C",
    scheduled_id text COLLATE pg_catalog."C",
    notification_id text COLLATE pg_catalog."C",
    result text NOT NULL,
    reason text,
    send_at timestamp with time zone,
    ended_by text COLLATE pg_catalog."C",
    fired_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_trigger_firings_id CHECK (((id ~~ 'fir\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_trigger_firings_result CHECK ((result = ANY (ARRAY['sent'::text, 'planned'::text, 'skipped'::text, 'failed'::text, 'obsolete'::text, 'cleared'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.trigger_firings FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.trigger_firings IS 'What an event has led to: one row for each trigger that heard it and each person, with the reason where nothing came of it.';

COMMENT ON COLUMN notification.trigger_firings.reason IS 'A code: why it was skipped, failed, or became obsolete.';

COMMENT ON COLUMN notification.trigger_firings.send_at IS 'When it was to be sent, as reckoned when the event was heard.';

COMMENT ON COLUMN notification.trigger_firings.ended_by IS 'The later event that moved or cleared it.';

CREATE TABLE notification.trigger_subjects (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    trigger_id text NOT NULL COLLATE pg_catalog."C",
    event_source text NOT NULL COLLATE pg_catalog."C",
    event_subject text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    event_time timestamp with time zone NOT NULL,
    cancelled boolean NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE ONLY notification.trigger_subjects FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.trigger_subjects IS 'The last event that a trigger has heard about a subject: an older one that comes later changes nothing.';

COMMENT ON COLUMN notification.trigger_subjects.cancelled IS 'Whether that event has cleared what was planned.';

CREATE TABLE notification.trigger_versions (
    tenant_id text COLLATE pg_catalog."C",
    trigger_id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    definition text NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    changed_by text NOT NULL
);

ALTER TABLE ONLY notification.trigger_versions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.trigger_versions IS 'Every version of every trigger: what sent a notification can be looked up after it was changed.';

COMMENT ON COLUMN notification.trigger_versions.definition IS 'JSON, as the API shows it.';

CREATE TABLE notification.webhook_call_counts (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    subscription_id text NOT NULL COLLATE pg_catalog."C",
    hour timestamp with time zone NOT NULL,
    taken bigint NOT NULL,
    not_taken bigint NOT NULL,
    CONSTRAINT ck_webhook_call_counts_counts CHECK (((taken >= 0) AND (not_taken >= 0)))
)
WITH (fillfactor='50');

ALTER TABLE ONLY notification.webhook_call_counts FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.webhook_call_counts IS 'Calls of each webhook by the hour, for some days: written with the calls, under the lock of the endpoint.';

COMMENT ON COLUMN notification.webhook_call_counts.hour IS 'When it began, in UTC.';

COMMENT ON COLUMN notification.webhook_call_counts.taken IS 'Calls that were answered with 2xx.';

CREATE TABLE notification.webhook_deliveries (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    next_attempt_at timestamp with time zone,
    first_attempted_at timestamp with time zone,
    delivered_at timestamp with time zone,
    claimed_until timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    last_status_code integer,
    subscription_id text NOT NULL COLLATE pg_catalog."C",
    event_type text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    ordering_key text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    payload_ref text,
    status text DEFAULT 'queued'::text NOT NULL COLLATE pg_catalog."C",
    claimed_by text,
    last_error text,
    "position" bigint NOT NULL,
    happened_at timestamp with time zone NOT NULL,
    payload_ciphertext bytea NOT NULL,
    calls jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT ck_webhook_deliveries_id CHECK (((id ~~ 'whd\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_webhook_deliveries_status CHECK ((status = ANY (ARRAY['queued'::text, 'blocked'::text, 'delivered'::text, 'dlq'::text])))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY notification.webhook_deliveries FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.webhook_deliveries IS 'Queue and history of webhooks: one row for each event and subscription.';

COMMENT ON COLUMN notification.webhook_deliveries.created_at IS 'The time inside the id.';

COMMENT ON COLUMN notification.webhook_deliveries.claimed_until IS 'Not used: a claim has no time limit, and ends with its worker.';

COMMENT ON COLUMN notification.webhook_deliveries.attempts IS 'Calls since it was last ordered; retries are counted by these.';

COMMENT ON COLUMN notification.webhook_deliveries.payload_ref IS 'Not used: what is told is some hundred bytes, and lies sealed in the row.';

COMMENT ON COLUMN notification.webhook_deliveries.status IS 'queued: called at next_attempt_at; blocked: behind an earlier one of its key; dlq: given up, and can be delivered again.';

COMMENT ON COLUMN notification.webhook_deliveries.claimed_by IS 'Not used: a worker claims the endpoint.';

COMMENT ON COLUMN notification.webhook_deliveries.last_error IS 'Our word for why the last call was not taken, never the answer''s body.';

COMMENT ON COLUMN notification.webhook_deliveries."position" IS 'Deliveries of one subscription and key go in this order, where order is asked for.';

COMMENT ON COLUMN notification.webhook_deliveries.happened_at IS 'When what the event tells of happened.';

COMMENT ON COLUMN notification.webhook_deliveries.payload_ciphertext IS 'What the event says, under the tenant''s key.';

COMMENT ON COLUMN notification.webhook_deliveries.calls IS 'Its last calls: when, what was answered, why it was not taken, how long it took.';

CREATE TABLE notification.webhook_endpoints (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    is_open boolean DEFAULT true NOT NULL,
    due_at timestamp with time zone,
    claimed_by text COLLATE pg_catalog."C",
    next_slot_at timestamp with time zone,
    resting_until timestamp with time zone,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    is_proven boolean DEFAULT false NOT NULL,
    last_success_at timestamp with time zone,
    last_failure_at timestamp with time zone
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_index_cleanup='on', vacuum_truncate='false', toast.autovacuum_vacuum_scale_factor='0', toast.autovacuum_vacuum_threshold='1000', toast.autovacuum_vacuum_cost_delay='0', toast.vacuum_truncate='false');

ALTER TABLE ONLY notification.webhook_endpoints FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.webhook_endpoints IS 'When each webhook subscription is called next, and how it has answered: one row for each.';

COMMENT ON COLUMN notification.webhook_endpoints.id IS 'The subscription''s.';

COMMENT ON COLUMN notification.webhook_endpoints.is_open IS 'Neither paused nor disabled; otherwise its deliveries wait.';

COMMENT ON COLUMN notification.webhook_endpoints.due_at IS 'When a worker looks at its deliveries next. Null: none is waiting, or it is not open.';

COMMENT ON COLUMN notification.webhook_endpoints.next_slot_at IS 'When the next call may go, where calls are limited by the minute.';

COMMENT ON COLUMN notification.webhook_endpoints.resting_until IS 'After failures it is left alone until then.';

COMMENT ON COLUMN notification.webhook_endpoints.consecutive_failures IS 'Reaching disable_after of the subscription disables it.';

COMMENT ON COLUMN notification.webhook_endpoints.is_proven IS 'Its last calls were taken; until then it gets one at a time.';

CREATE TABLE notification.webhook_portal_links (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    token_hash text NOT NULL COLLATE pg_catalog."C",
    subscription_id text NOT NULL COLLATE pg_catalog."C",
    customer text COLLATE pg_catalog."C",
    is_test boolean NOT NULL,
    may_change boolean NOT NULL,
    event_types text[] NOT NULL COLLATE pg_catalog."C",
    locale text COLLATE pg_catalog."C",
    embed_origins text[] NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_webhook_portal_links_hash CHECK ((token_hash ~ '^sha256:[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_webhook_portal_links_id CHECK ((id ~ '^wpl_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_webhook_portal_links_time CHECK ((expires_at > created_at))
);

ALTER TABLE ONLY notification.webhook_portal_links FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.webhook_portal_links IS 'Links to the webhook portal. The token carries its tenant inside; of the token only the hash is kept.';

COMMENT ON COLUMN notification.webhook_portal_links.subscription_id IS 'The webhook that it was made for: whatever is made by this link has its condition, its body and its limits.';

COMMENT ON COLUMN notification.webhook_portal_links.customer IS 'Whose webhooks it shows; null: that one webhook.';

COMMENT ON COLUMN notification.webhook_portal_links.may_change IS 'Otherwise it only shows.';

COMMENT ON COLUMN notification.webhook_portal_links.event_types IS 'What its visitors may choose from, as NATS writes subjects.';

COMMENT ON COLUMN notification.webhook_portal_links.locale IS 'The language of its pages; null: what the browser asks for.';

COMMENT ON COLUMN notification.webhook_portal_links.embed_origins IS 'Sites that may show its pages in a frame.';

CREATE SEQUENCE notification.webhook_positions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

COMMENT ON SEQUENCE notification.webhook_positions IS 'The order of deliveries of one key. Numbers may be missing.';

CREATE TABLE notification.webhook_subscriptions (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    target_url text NOT NULL,
    signing_secret_ciphertext bytea NOT NULL,
    signing_secret_prev_ciphertext bytea,
    signing_secret_rotated_at timestamp with time zone,
    status text DEFAULT 'active'::text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    event_types text[] NOT NULL COLLATE pg_catalog."C",
    condition text,
    is_test boolean NOT NULL,
    ordered boolean DEFAULT false NOT NULL,
    max_in_flight integer DEFAULT 10 NOT NULL,
    max_per_minute integer,
    timeout_seconds integer DEFAULT 15 NOT NULL,
    disable_after integer DEFAULT 20 NOT NULL,
    headers_ciphertext bytea,
    header_names text[] DEFAULT '{}'::text[] NOT NULL,
    credentials_ciphertext bytea,
    credentials_shown jsonb,
    transform jsonb,
    signing_secret_prev_until timestamp with time zone,
    disabled_at timestamp with time zone,
    disabled_reason text COLLATE pg_catalog."C",
    customer text COLLATE pg_catalog."C",
    api_version date DEFAULT CURRENT_DATE NOT NULL,
    api_version_before date,
    api_version_from timestamp with time zone,
    CONSTRAINT ck_webhook_subscriptions_api_version CHECK (((api_version_before IS NULL) = (api_version_from IS NULL))),
    CONSTRAINT ck_webhook_subscriptions_customer CHECK ((customer ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$'::text)),
    CONSTRAINT ck_webhook_subscriptions_disabled CHECK ((((status = 'disabled'::text) = (disabled_at IS NOT NULL)) AND ((disabled_at IS NULL) = (disabled_reason IS NULL)) AND (disabled_reason = ANY (ARRAY['failures'::text, 'gone'::text])))),
    CONSTRAINT ck_webhook_subscriptions_id CHECK ((id ~ '^whs_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_webhook_subscriptions_limits CHECK ((((max_in_flight >= 1) AND (max_in_flight <= 50)) AND ((max_per_minute >= 1) AND (max_per_minute <= 60000)) AND ((timeout_seconds >= 1) AND (timeout_seconds <= 30)) AND ((disable_after >= 1) AND (disable_after <= 1000)))),
    CONSTRAINT ck_webhook_subscriptions_status CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text])))
);

ALTER TABLE ONLY notification.webhook_subscriptions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification.webhook_subscriptions IS 'A tenant''s endpoints and the events they want.';

COMMENT ON COLUMN notification.webhook_subscriptions.name IS 'Not personal: what the tenant calls it.';

COMMENT ON COLUMN notification.webhook_subscriptions.signing_secret_ciphertext IS 'Under the tenant''s key; the plain secret is never stored.';

COMMENT ON COLUMN notification.webhook_subscriptions.signing_secret_prev_ciphertext IS 'Signs as well while a rotation overlaps.';

COMMENT ON COLUMN notification.webhook_subscriptions.consecutive_failures IS 'Not used: it changes with each call, and stands with the endpoint.';

COMMENT ON COLUMN notification.webhook_subscriptions.event_types IS 'Which events, as NATS writes subjects.';

COMMENT ON COLUMN notification.webhook_subscriptions.condition IS 'A condition over what the event says; null: all of these types.';

COMMENT ON COLUMN notification.webhook_subscriptions.is_test IS 'Made with a test key: it hears of tests alone, and others hear of none.';

COMMENT ON COLUMN notification.webhook_subscriptions.ordered IS 'Events of one key one after the other, each when the one before is delivered or given up.';

COMMENT ON COLUMN notification.webhook_subscriptions.max_in_flight IS 'Calls side by side.';

COMMENT ON COLUMN notification.webhook_subscriptions.disable_after IS 'So many failures in a row disable it.';

COMMENT ON COLUMN notification.webhook_subscriptions.headers_ciphertext IS 'Further headers of each call, under the tenant''s key.';

COMMENT ON COLUMN notification.webhook_subscriptions.header_names IS 'Not personal: the names of these headers, without their values.';

COMMENT ON COLUMN notification.webhook_subscriptions.credentials_ciphertext IS 'Client certificate and OAuth 2 client, under the tenant''s key.';

COMMENT ON COLUMN notification.webhook_subscriptions.credentials_shown IS 'What of these is no secret.';

COMMENT ON COLUMN notification.webhook_subscriptions.transform IS 'The body that is told in the place of the usual one: JSON with paths into the event.';

COMMENT ON COLUMN notification.webhook_subscriptions.signing_secret_prev_until IS 'Until then calls are signed with the secret before as well.';

COMMENT ON COLUMN notification.webhook_subscriptions.disabled_reason IS 'failures: too many in a row; gone: it answered 410.';

COMMENT ON COLUMN notification.webhook_subscriptions.customer IS 'What the tenant calls the customer whose endpoint this is; null: its own. A portal link shows all of one customer.';

COMMENT ON COLUMN notification.webhook_subscriptions.api_version IS 'Of events that are published in several versions it is told the newest one of that day, or the oldest that is published.';

COMMENT ON COLUMN notification.webhook_subscriptions.api_version_before IS 'What events of before api_version_from are judged by, however late they come; null: it was never changed.';

COMMENT ON COLUMN notification.webhook_subscriptions.api_version_from IS 'Since when api_version counts: some seconds after the change, when all processes know of it.';

CREATE TABLE notification_platform.categories (
    category text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    default_use_case text NOT NULL,
    retention_class text NOT NULL,
    default_priority text DEFAULT 'normal'::text NOT NULL,
    default_expiry_seconds integer NOT NULL,
    needs_consent boolean NOT NULL,
    can_unsubscribe boolean NOT NULL,
    breaks_quiet_hours boolean NOT NULL,
    may_digest boolean NOT NULL,
    tracking_allowed boolean NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    names jsonb DEFAULT '{}'::jsonb NOT NULL,
    "position" integer DEFAULT 100 NOT NULL,
    retired_at timestamp with time zone,
    CONSTRAINT ck_categories_category CHECK ((category ~ '^[a-z][a-z0-9_]{1,62}$'::text)),
    CONSTRAINT ck_categories_expiry CHECK ((default_expiry_seconds > 0)),
    CONSTRAINT ck_categories_priority CHECK ((default_priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_categories_retention_class CHECK ((retention_class = ANY (ARRAY['regulated'::text, 'standard'::text, 'marketing'::text]))),
    CONSTRAINT ck_categories_use_case CHECK ((default_use_case = ANY (ARRAY['otp'::text, 'txn'::text, 'marketing'::text, 'alert'::text, 'conversational'::text])))
);

ALTER TABLE ONLY notification_platform.categories FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification_platform.categories IS 'Registry of categories; a row carries the policy of its category.';

COMMENT ON COLUMN notification_platform.categories.needs_consent IS 'Denied until the recipient has consented.';

COMMENT ON COLUMN notification_platform.categories.tracking_allowed IS 'Whether opens and clicks may be tracked.';

COMMENT ON COLUMN notification_platform.categories.names IS 'By language tag: what people read on pages.';

COMMENT ON COLUMN notification_platform.categories."position" IS 'Where it stands on pages; the lowest first.';

COMMENT ON COLUMN notification_platform.categories.retired_at IS 'Since when nothing new may use it; what uses it already goes on. No category is ever deleted.';

CREATE TABLE notification_platform.event_subscription_progress (
    subscription_id text NOT NULL COLLATE pg_catalog."C",
    stream text COLLATE pg_catalog."C",
    own_stream boolean DEFAULT false NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    accepted bigint DEFAULT 0 NOT NULL,
    repeated bigint DEFAULT 0 NOT NULL,
    refused bigint DEFAULT 0 NOT NULL,
    waiting bigint DEFAULT 0 NOT NULL,
    last_received_at timestamp with time zone,
    last_refused_at timestamp with time zone,
    last_refusal text COLLATE pg_catalog."C",
    problem text,
    problem_since timestamp with time zone
)
WITH (fillfactor='50');

ALTER TABLE ONLY notification_platform.event_subscription_progress FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification_platform.event_subscription_progress IS 'How far each subscription is read, and what came of its messages.';

COMMENT ON COLUMN notification_platform.event_subscription_progress.stream IS 'Where the broker keeps its messages.';

COMMENT ON COLUMN notification_platform.event_subscription_progress.own_stream IS 'Tidings made that stream, because there was none.';

COMMENT ON COLUMN notification_platform.event_subscription_progress."position" IS 'The last place on that stream that is done with.';

COMMENT ON COLUMN notification_platform.event_subscription_progress.repeated IS 'Events that had come before; some are counted here after a crash.';

COMMENT ON COLUMN notification_platform.event_subscription_progress.waiting IS 'Messages that the broker still had, when it last said so.';

COMMENT ON COLUMN notification_platform.event_subscription_progress.last_refusal IS 'The code of the last refusal.';

COMMENT ON COLUMN notification_platform.event_subscription_progress.problem IS 'Why it can''t be read now, without anything of a message.';

CREATE TABLE notification_platform.event_subscription_refusals (
    subscription_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    stream text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    refused_at timestamp with time zone NOT NULL,
    size integer NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    field text NOT NULL COLLATE pg_catalog."C",
    remedy text NOT NULL,
    content_ciphertext bytea,
    CONSTRAINT ck_event_subscription_refusals_id CHECK (((id ~~ 'rfm\_%'::text) AND (length(id) = 30)))
);

ALTER TABLE ONLY notification_platform.event_subscription_refusals FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification_platform.event_subscription_refusals IS 'Messages that are no event of a tenant, with the reason: the newest thousand of each subscription, for eight days.';

COMMENT ON COLUMN notification_platform.event_subscription_refusals."position" IS 'Its place on the stream.';

COMMENT ON COLUMN notification_platform.event_subscription_refusals.size IS 'Bytes of its content.';

COMMENT ON COLUMN notification_platform.event_subscription_refusals.field IS 'The attribute of CloudEvents that is wrong; empty: the message as a whole.';

COMMENT ON COLUMN notification_platform.event_subscription_refusals.remedy IS 'What is wrong, without anything of the message.';

COMMENT ON COLUMN notification_platform.event_subscription_refusals.content_ciphertext IS 'Subject, headers and data, under a key of the platform''s; null where it is larger than an event may be.';

CREATE TABLE notification_platform.event_subscriptions (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    for_tenant text COLLATE pg_catalog."C",
    tenant_word integer,
    is_test boolean NOT NULL,
    may_erase boolean NOT NULL,
    since timestamp with time zone,
    enabled boolean NOT NULL,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT ck_event_subscriptions_id CHECK (((id ~~ 'evs\_%'::text) AND (length(id) = 30))),
    CONSTRAINT ck_event_subscriptions_tenant CHECK ((num_nonnulls(for_tenant, tenant_word) <= 1)),
    CONSTRAINT ck_event_subscriptions_word CHECK ((tenant_word > 0))
);

ALTER TABLE ONLY notification_platform.event_subscriptions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification_platform.event_subscriptions IS 'Subjects of the broker whose messages are events that come in.';

COMMENT ON COLUMN notification_platform.event_subscriptions.name IS 'Not personal: what operators call it.';

COMMENT ON COLUMN notification_platform.event_subscriptions.for_tenant IS 'All of its messages are this tenant''s.';

COMMENT ON COLUMN notification_platform.event_subscriptions.tenant_word IS 'Which word of a message''s subject, counted from 1, has the tenant''s id or slug. Null beside no for_tenant: events about tenants.';

COMMENT ON COLUMN notification_platform.event_subscriptions.is_test IS 'What comes is a test, as with a test key.';

COMMENT ON COLUMN notification_platform.event_subscriptions.may_erase IS 'Whether iam.user.deleted.v1 is taken, which erases a person.';

COMMENT ON COLUMN notification_platform.event_subscriptions.since IS 'Messages since then; null: all that the stream had.';

COMMENT ON COLUMN notification_platform.event_subscriptions.deleted_at IS 'The row goes when the broker has forgotten it too.';

CREATE TABLE notification_platform.suppressions (
    id text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    address_hash text COLLATE pg_catalog."C",
    mail_domain text COLLATE pg_catalog."C",
    reason text NOT NULL,
    notes text,
    expires_at timestamp with time zone,
    released_at timestamp with time zone,
    released_by text,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_suppressions_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text]))),
    CONSTRAINT ck_suppressions_domain CHECK (((mail_domain IS NULL) OR (channel = 'email'::text))),
    CONSTRAINT ck_suppressions_hash CHECK ((address_hash ~ '^sha256:[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_suppressions_id CHECK ((id ~ '^sup_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_suppressions_reason CHECK ((reason = ANY (ARRAY['hard_bounce'::text, 'soft_bounce'::text, 'complaint'::text, 'invalid_address'::text, 'opt_out'::text, 'manual'::text, 'compliance'::text, 'rate_limit'::text]))),
    CONSTRAINT ck_suppressions_release CHECK (((released_at IS NULL) = (released_by IS NULL))),
    CONSTRAINT ck_suppressions_target CHECK ((num_nonnulls(address_hash, mail_domain) = 1))
);

ALTER TABLE ONLY notification_platform.suppressions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification_platform.suppressions IS 'Addresses and mail domains nobody may write to.';

COMMENT ON COLUMN notification_platform.suppressions.address_hash IS 'Under the platform''s own pepper; checked against the decrypted address at send time.';

COMMENT ON COLUMN notification_platform.suppressions.mail_domain IS 'Wildcard: every address of this domain.';

CREATE TABLE notification_platform.template_assets (
    version_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    content bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_template_assets_name CHECK ((name ~ '^[a-z0-9._-]{1,80}$'::text)),
    CONSTRAINT ck_template_assets_size CHECK (((octet_length(content) >= 1) AND (octet_length(content) <= 524288)))
);

ALTER TABLE ONLY notification_platform.template_assets ALTER COLUMN content SET STORAGE EXTERNAL;

ALTER TABLE ONLY notification_platform.template_assets FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification_platform.template_assets IS 'Pictures of the platform''s versions.';

CREATE TABLE notification_platform.template_versions (
    id text NOT NULL COLLATE pg_catalog."C",
    template_id text NOT NULL COLLATE pg_catalog."C",
    semver text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'draft'::text NOT NULL,
    source text DEFAULT 'platform'::text NOT NULL,
    ai_provenance jsonb,
    created_by text NOT NULL,
    approver_user_id text,
    approved_at timestamp with time zone,
    supersedes_id text COLLATE pg_catalog."C",
    variables_schema jsonb NOT NULL,
    fallback_chain text[] DEFAULT ARRAY[]::text[] NOT NULL,
    preview_samples jsonb,
    locales jsonb NOT NULL,
    published_at timestamp with time zone,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    partials jsonb DEFAULT '{}'::jsonb NOT NULL,
    strings jsonb DEFAULT '{}'::jsonb NOT NULL,
    layout text COLLATE pg_catalog."C",
    assets jsonb DEFAULT '{}'::jsonb NOT NULL,
    sample_names text[] DEFAULT ARRAY[]::text[] NOT NULL,
    CONSTRAINT ck_template_versions_ai_approved CHECK (((source <> 'ai_drafted'::text) OR (status <> 'active'::text) OR ((approver_user_id IS NOT NULL) AND (approver_user_id <> created_by)))),
    CONSTRAINT ck_template_versions_id CHECK ((id ~ '^tpv_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_template_versions_semver CHECK ((semver ~ '^[0-9]+\.[0-9]+\.[0-9]+'::text)),
    CONSTRAINT ck_template_versions_source CHECK ((source = ANY (ARRAY['platform'::text, 'ai_drafted'::text]))),
    CONSTRAINT ck_template_versions_status CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'archived'::text])))
);

ALTER TABLE ONLY notification_platform.template_versions FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification_platform.template_versions IS 'Versions of the platform''s templates; content frozen once active.';

CREATE TABLE notification_platform.templates (
    id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    category text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'active'::text NOT NULL,
    active_version_id text COLLATE pg_catalog."C",
    default_locale text NOT NULL,
    fallback_chain text[] DEFAULT ARRAY[]::text[] NOT NULL,
    default_priority text DEFAULT 'normal'::text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT ck_templates_channel CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'whatsapp'::text, 'telegram'::text, 'viber'::text, 'voice'::text, 'push'::text, 'inapp'::text, 'webhook'::text]))),
    CONSTRAINT ck_templates_id CHECK ((id ~ '^tpl_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
    CONSTRAINT ck_templates_priority CHECK ((default_priority = ANY (ARRAY['critical'::text, 'high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT ck_templates_status CHECK ((status = ANY (ARRAY['active'::text, 'archived'::text])))
);

ALTER TABLE ONLY notification_platform.templates FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE notification_platform.templates IS 'Templates of the platform, used where a tenant has none of its own.';

ALTER TABLE ONLY notification.notifications ATTACH PARTITION notification.notifications_marketing FOR VALUES IN ('marketing');

ALTER TABLE ONLY notification.notifications ATTACH PARTITION notification.notifications_regulated FOR VALUES IN ('regulated');

ALTER TABLE ONLY notification.notifications ATTACH PARTITION notification.notifications_standard FOR VALUES IN ('standard');

ALTER TABLE ONLY bff_backoffice.ai_decision_deliveries
    ADD CONSTRAINT pk_ai_decision_deliveries PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY bff_backoffice.ai_decision_keys
    ADD CONSTRAINT pk_ai_decision_keys PRIMARY KEY (tenant_id, suggestion_id, decided_by);

ALTER TABLE ONLY bff_backoffice.ai_decision_log
    ADD CONSTRAINT pk_ai_decision_log PRIMARY KEY (tenant_id, decided_at, id);

ALTER TABLE ONLY bff_backoffice.ai_inbox_entries
    ADD CONSTRAINT pk_ai_inbox_entries PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY bff_backoffice.ai_inbox_places
    ADD CONSTRAINT pk_ai_inbox_places PRIMARY KEY (tenant_id, property_id);

ALTER TABLE ONLY bff_backoffice.alert_ack_log
    ADD CONSTRAINT pk_alert_ack_log PRIMARY KEY (alert_id, acknowledged_by);

ALTER TABLE ONLY bff_backoffice.alert_budgets
    ADD CONSTRAINT pk_alert_budgets PRIMARY KEY (tenant_id, currency);

ALTER TABLE ONLY bff_backoffice.alert_notices
    ADD CONSTRAINT pk_alert_notices PRIMARY KEY (operator_id, dedup_key);

ALTER TABLE ONLY bff_backoffice.alert_subscriptions
    ADD CONSTRAINT pk_alert_subscriptions PRIMARY KEY (operator_id);

ALTER TABLE ONLY bff_backoffice.alerts
    ADD CONSTRAINT pk_alerts PRIMARY KEY (id);

ALTER TABLE ONLY bff_backoffice.announcements
    ADD CONSTRAINT pk_announcements PRIMARY KEY (id);

ALTER TABLE ONLY bff_backoffice.attestations
    ADD CONSTRAINT pk_attestations PRIMARY KEY (id);

ALTER TABLE ONLY bff_backoffice.consumed_events
    ADD CONSTRAINT pk_consumed_events PRIMARY KEY (consumer_name, event_id);

ALTER TABLE ONLY bff_backoffice.device_keys
    ADD CONSTRAINT pk_device_keys PRIMARY KEY (session_id);

ALTER TABLE ONLY bff_backoffice.device_proofs
    ADD CONSTRAINT pk_device_proofs PRIMARY KEY (session_id, jti);

ALTER TABLE ONLY bff_backoffice.device_sync_status
    ADD CONSTRAINT pk_device_sync_status PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY bff_backoffice.devices
    ADD CONSTRAINT pk_devices PRIMARY KEY (id);

ALTER TABLE ONLY bff_backoffice.lock_action_proxy_audit
    ADD CONSTRAINT pk_lock_action_proxy_audit PRIMARY KEY (tenant_id, occurred_at, id);

ALTER TABLE ONLY bff_backoffice.lock_actions
    ADD CONSTRAINT pk_lock_actions PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY bff_backoffice.notes
    ADD CONSTRAINT pk_notes PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY bff_backoffice.offline_action_queue_hints
    ADD CONSTRAINT pk_offline_action_queue_hints PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY bff_backoffice.operator_preferences
    ADD CONSTRAINT pk_operator_preferences PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY bff_backoffice.operators
    ADD CONSTRAINT pk_operators PRIMARY KEY (id);

ALTER TABLE ONLY bff_backoffice.outbox
    ADD CONSTRAINT pk_outbox PRIMARY KEY (seq);

ALTER TABLE ONLY bff_backoffice.passkey_challenges
    ADD CONSTRAINT pk_passkey_challenges PRIMARY KEY (challenge_hash);

ALTER TABLE ONLY bff_backoffice.passkeys
    ADD CONSTRAINT pk_passkeys PRIMARY KEY (id);

ALTER TABLE ONLY bff_backoffice.sessions
    ADD CONSTRAINT pk_sessions PRIMARY KEY (id);

ALTER TABLE ONLY bff_backoffice.ai_inbox_entries
    ADD CONSTRAINT uq_ai_inbox_entries_suggestion UNIQUE NULLS NOT DISTINCT (tenant_id, source, property_id, suggestion_id);

ALTER TABLE ONLY bff_backoffice.alert_mutes
    ADD CONSTRAINT uq_alert_mutes_category UNIQUE NULLS NOT DISTINCT (tenant_id, category);

ALTER TABLE ONLY bff_backoffice.announcement_heads
    ADD CONSTRAINT uq_announcement_heads_tenant UNIQUE NULLS NOT DISTINCT (tenant_id);

ALTER TABLE ONLY bff_backoffice.announcements
    ADD CONSTRAINT uq_announcements_number UNIQUE (tenant_id, number);

ALTER TABLE ONLY bff_backoffice.audit_heads
    ADD CONSTRAINT uq_audit_heads_stream UNIQUE NULLS NOT DISTINCT (tenant_id, entity_type);

ALTER TABLE ONLY bff_backoffice.audit
    ADD CONSTRAINT uq_audit_id UNIQUE NULLS NOT DISTINCT (tenant_id, occurred_at, id);

ALTER TABLE ONLY bff_backoffice.audit
    ADD CONSTRAINT uq_audit_stream UNIQUE NULLS NOT DISTINCT (tenant_id, entity_type, seq, occurred_at);

ALTER TABLE ONLY bff_backoffice.device_sync_status
    ADD CONSTRAINT uq_device_sync_status_device UNIQUE (tenant_id, device_id);

ALTER TABLE ONLY bff_backoffice.exports
    ADD CONSTRAINT uq_exports_id UNIQUE NULLS NOT DISTINCT (tenant_id, id);

ALTER TABLE ONLY bff_backoffice.exports
    ADD CONSTRAINT uq_exports_part UNIQUE NULLS NOT DISTINCT (tenant_id, ledger, part);

ALTER TABLE ONLY bff_backoffice.idempotency_keys
    ADD CONSTRAINT uq_idempotency_keys_key UNIQUE NULLS NOT DISTINCT (tenant_id, scope, key);

ALTER TABLE ONLY bff_backoffice.operator_activity
    ADD CONSTRAINT uq_operator_activity_id UNIQUE NULLS NOT DISTINCT (tenant_id, occurred_at, id);

ALTER TABLE ONLY bff_backoffice.operator_preferences
    ADD CONSTRAINT uq_operator_preferences_operator UNIQUE NULLS NOT DISTINCT (tenant_id, operator_id, property_id);

ALTER TABLE ONLY chan.channel_adapter_configs
    ADD CONSTRAINT pk_channel_adapter_configs PRIMARY KEY (id);

ALTER TABLE ONLY chan.circuit_counts
    ADD CONSTRAINT pk_circuit_counts PRIMARY KEY (account_id, bucket, prefix, era, worker);

ALTER TABLE ONLY chan.consumed_events
    ADD CONSTRAINT pk_consumed_events PRIMARY KEY (consumer_name, event_id);

ALTER TABLE ONLY chan.conversation_messages
    ADD CONSTRAINT pk_conversation_messages PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY chan.conversations
    ADD CONSTRAINT pk_conversations PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY chan.delivery_attempt_events
    ADD CONSTRAINT pk_delivery_attempt_events PRIMARY KEY (tenant_id, recorded_at, id);

ALTER TABLE ONLY chan.delivery_attempts
    ADD CONSTRAINT pk_delivery_attempts PRIMARY KEY (tenant_id, started_at, id);

ALTER TABLE ONLY chan.delivery_inbox
    ADD CONSTRAINT pk_delivery_inbox PRIMARY KEY (tenant_id, message_id);

ALTER TABLE ONLY chan.delivery_outbox
    ADD CONSTRAINT pk_delivery_outbox PRIMARY KEY (tenant_id, notification_id, recipient_id);

ALTER TABLE ONLY chan.erased_executions
    ADD CONSTRAINT pk_erased_executions PRIMARY KEY (tenant_id, execution_id);

ALTER TABLE ONLY chan.error_statistics
    ADD CONSTRAINT pk_error_statistics PRIMARY KEY (tenant_id, day, channel, vendor, code);

ALTER TABLE ONLY chan.executions_live
    ADD CONSTRAINT pk_executions_live PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY chan.fallback_executions
    ADD CONSTRAINT pk_fallback_executions PRIMARY KEY (tenant_id, started_at, id);

ALTER TABLE ONLY chan.fallback_policies
    ADD CONSTRAINT pk_fallback_policies PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY chan.fallback_policy_versions
    ADD CONSTRAINT pk_fallback_policy_versions PRIMARY KEY (tenant_id, policy_id, version);

ALTER TABLE ONLY chan.inbound_deliveries
    ADD CONSTRAINT pk_inbound_deliveries PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY chan.inbound_messages
    ADD CONSTRAINT pk_inbound_messages PRIMARY KEY (id);

ALTER TABLE ONLY chan.inbound_unmatched
    ADD CONSTRAINT pk_inbound_unmatched PRIMARY KEY (destination, bucket);

ALTER TABLE ONLY chan.outbox
    ADD CONSTRAINT pk_outbox PRIMARY KEY (seq);

ALTER TABLE ONLY chan.outcome_statistics
    ADD CONSTRAINT pk_outcome_statistics PRIMARY KEY (tenant_id, hour, use_case, channel, outcome);

ALTER TABLE ONLY chan.recipient_profiles
    ADD CONSTRAINT pk_recipient_profiles PRIMARY KEY (tenant_id, recipient_id);

ALTER TABLE ONLY chan.shared_number_contacts
    ADD CONSTRAINT pk_shared_number_contacts PRIMARY KEY (tenant_id, platform_hash, sender_id, channel);

ALTER TABLE ONLY chan.spend_daily
    ADD CONSTRAINT pk_spend_daily PRIMARY KEY (tenant_id, day, stripe, channel, vendor, currency);

ALTER TABLE ONLY chan.step_statistics
    ADD CONSTRAINT pk_step_statistics PRIMARY KEY (tenant_id, hour, step, channel, vendor);

ALTER TABLE ONLY chan.tenant_inbound_routes
    ADD CONSTRAINT pk_tenant_inbound_routes PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY chan.unknown_provider_codes
    ADD CONSTRAINT pk_unknown_provider_codes PRIMARY KEY (tenant_id, vendor, code);

ALTER TABLE ONLY chan.vendor_weights
    ADD CONSTRAINT pk_vendor_weights PRIMARY KEY (id);

ALTER TABLE ONLY chan.webhook_inbound
    ADD CONSTRAINT pk_webhook_inbound PRIMARY KEY (received_at, id);

ALTER TABLE ONLY chan.webhook_inbound_dedup
    ADD CONSTRAINT pk_webhook_inbound_dedup PRIMARY KEY (vendor, adapter, vendor_message_id, type, discriminator);

ALTER TABLE ONLY chan.webhook_inbound_events
    ADD CONSTRAINT pk_webhook_inbound_events PRIMARY KEY (received_at, id);

ALTER TABLE ONLY chan.account_secrets
    ADD CONSTRAINT uq_account_secrets_name UNIQUE NULLS NOT DISTINCT (tenant_id, name);

ALTER TABLE ONLY chan.adapter_status_map
    ADD CONSTRAINT uq_adapter_status_map_code UNIQUE NULLS NOT DISTINCT (tenant_id, adapter, provider_code);

ALTER TABLE ONLY chan.audit_heads
    ADD CONSTRAINT uq_audit_heads_stream UNIQUE NULLS NOT DISTINCT (tenant_id, entity_type);

ALTER TABLE ONLY chan.audit
    ADD CONSTRAINT uq_audit_id UNIQUE NULLS NOT DISTINCT (tenant_id, occurred_at, id);

ALTER TABLE ONLY chan.audit
    ADD CONSTRAINT uq_audit_stream UNIQUE NULLS NOT DISTINCT (tenant_id, entity_type, seq, occurred_at);

ALTER TABLE ONLY chan.executions_live
    ADD CONSTRAINT uq_executions_live_recipient UNIQUE (tenant_id, notification_id, recipient_id);

ALTER TABLE ONLY chan.inbound_deliveries
    ADD CONSTRAINT uq_inbound_deliveries_message UNIQUE (tenant_id, message_id);

ALTER TABLE ONLY chan.recipient_profiles
    ADD CONSTRAINT uq_recipient_profiles_id UNIQUE (tenant_id, id);

ALTER TABLE ONLY chan.vendor_weights
    ADD CONSTRAINT uq_vendor_weights_channel UNIQUE NULLS NOT DISTINCT (tenant_id, channel);

ALTER TABLE ONLY kernel.audit_anchors
    ADD CONSTRAINT pk_audit_anchors PRIMARY KEY (log, number);

ALTER TABLE ONLY kernel.bus_consumers
    ADD CONSTRAINT pk_bus_consumers PRIMARY KEY (group_name);

ALTER TABLE ONLY kernel.bus_events
    ADD CONSTRAINT pk_bus_events PRIMARY KEY ("position", published_at);

ALTER TABLE ONLY kernel.bus_parked
    ADD CONSTRAINT pk_bus_parked PRIMARY KEY (group_name, "position");

ALTER TABLE ONLY kernel.bus_stream
    ADD CONSTRAINT pk_bus_stream PRIMARY KEY (singleton);

ALTER TABLE ONLY kernel.data_keys
    ADD CONSTRAINT pk_data_keys PRIMARY KEY (tenant_id, subject_id, version);

ALTER TABLE ONLY kernel.dead_letters
    ADD CONSTRAINT pk_dead_letters PRIMARY KEY (id);

ALTER TABLE ONLY kernel.event_version_readers
    ADD CONSTRAINT pk_event_version_readers PRIMARY KEY (subject, group_name);

ALTER TABLE ONLY kernel.event_versions
    ADD CONSTRAINT pk_event_versions PRIMARY KEY (subject);

ALTER TABLE ONLY kernel.exported_months
    ADD CONSTRAINT pk_exported_months PRIMARY KEY (parent, month);

ALTER TABLE ONLY kernel.partitioned_tables
    ADD CONSTRAINT pk_partitioned_tables PRIMARY KEY (parent);

ALTER TABLE ONLY kernel.platform_keys
    ADD CONSTRAINT pk_platform_keys PRIMARY KEY (purpose, version);

ALTER TABLE ONLY kernel.processes
    ADD CONSTRAINT pk_processes PRIMARY KEY (id);

ALTER TABLE ONLY kernel.roll_up_marks
    ADD CONSTRAINT pk_roll_up_marks PRIMARY KEY (name);

ALTER TABLE ONLY kernel.schema_migrations
    ADD CONSTRAINT pk_schema_migrations PRIMARY KEY (number);

ALTER TABLE ONLY kernel.schema_migrations_log
    ADD CONSTRAINT pk_schema_migrations_log PRIMARY KEY (entry);

ALTER TABLE ONLY kernel.sweep_marks
    ADD CONSTRAINT pk_sweep_marks PRIMARY KEY (name);

ALTER TABLE ONLY kernel.tenant_keys
    ADD CONSTRAINT pk_tenant_keys PRIMARY KEY (tenant_id, purpose, version);

ALTER TABLE ONLY kernel.workers
    ADD CONSTRAINT pk_workers PRIMARY KEY (id);

ALTER TABLE ONLY kernel.audit_anchor_lines
    ADD CONSTRAINT uq_audit_anchor_lines_line UNIQUE NULLS NOT DISTINCT (log, anchor_number, tenant_id, entity_type);

ALTER TABLE ONLY kernel.audit_anchors
    ADD CONSTRAINT uq_audit_anchors_id UNIQUE (id);

ALTER TABLE ONLY kernel.feature_flags
    ADD CONSTRAINT uq_feature_flags_key UNIQUE NULLS NOT DISTINCT (tenant_id, key);

ALTER TABLE ONLY kernel.hot_leases
    ADD CONSTRAINT uq_hot_leases_key UNIQUE NULLS NOT DISTINCT (tenant_id, key);

ALTER TABLE ONLY kernel.hot_limits
    ADD CONSTRAINT uq_hot_limits_key UNIQUE NULLS NOT DISTINCT (tenant_id, key);

ALTER TABLE ONLY kernel.hot_presence
    ADD CONSTRAINT uq_hot_presence_member UNIQUE NULLS NOT DISTINCT (tenant_id, key, member);

ALTER TABLE ONLY kernel.hot_seen
    ADD CONSTRAINT uq_hot_seen_key UNIQUE NULLS NOT DISTINCT (tenant_id, key);

ALTER TABLE ONLY notification.notifications
    ADD CONSTRAINT pk_notifications PRIMARY KEY (tenant_id, created_at, id, retention_class);

ALTER TABLE ONLY notification.notifications_marketing
    ADD CONSTRAINT notifications_marketing_pkey PRIMARY KEY (tenant_id, created_at, id, retention_class);

ALTER TABLE ONLY notification.notifications_regulated
    ADD CONSTRAINT notifications_regulated_pkey PRIMARY KEY (tenant_id, created_at, id, retention_class);

ALTER TABLE ONLY notification.notifications_standard
    ADD CONSTRAINT notifications_standard_pkey PRIMARY KEY (tenant_id, created_at, id, retention_class);

ALTER TABLE ONLY notification.address_refusals
    ADD CONSTRAINT pk_address_refusals PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.api_keys
    ADD CONSTRAINT pk_api_keys PRIMARY KEY (id);

ALTER TABLE ONLY notification.batch_counts
    ADD CONSTRAINT pk_batch_counts PRIMARY KEY (tenant_id, batch_id, variant, name, stripe);

ALTER TABLE ONLY notification.batch_list
    ADD CONSTRAINT pk_batch_list PRIMARY KEY (tenant_id, batch_id, recipient_id);

ALTER TABLE ONLY notification.batch_people
    ADD CONSTRAINT pk_batch_people PRIMARY KEY (tenant_id, batch_id, recipient_id);

ALTER TABLE ONLY notification.branding
    ADD CONSTRAINT pk_branding PRIMARY KEY (tenant_id);

ALTER TABLE ONLY notification.categories
    ADD CONSTRAINT pk_categories PRIMARY KEY (tenant_id, category);

ALTER TABLE ONLY notification.channel_credentials
    ADD CONSTRAINT pk_channel_credentials PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.channels
    ADD CONSTRAINT pk_channels PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.consent_events
    ADD CONSTRAINT pk_consent_events PRIMARY KEY (tenant_id, recipient_id, id);

ALTER TABLE ONLY notification.consumed_events
    ADD CONSTRAINT pk_consumed_events PRIMARY KEY (consumer_name, event_id);

ALTER TABLE ONLY notification.counters
    ADD CONSTRAINT pk_counters PRIMARY KEY (tenant_id, day, stripe, name, channel, category);

ALTER TABLE ONLY notification.dedup_ledger
    ADD CONSTRAINT pk_dedup_ledger PRIMARY KEY (tenant_id, source_event_id, template_key, recipient_id, channel);

ALTER TABLE ONLY notification.delivery_attempts
    ADD CONSTRAINT pk_delivery_attempts PRIMARY KEY (tenant_id, started_at, id);

ALTER TABLE ONLY notification.digest_windows
    ADD CONSTRAINT pk_digest_windows PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.dispatch_batches
    ADD CONSTRAINT pk_dispatch_batches PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.dispatch_queue
    ADD CONSTRAINT pk_dispatch_queue PRIMARY KEY (tenant_id, notification_id);

ALTER TABLE ONLY notification.dispatch_requests
    ADD CONSTRAINT pk_dispatch_requests PRIMARY KEY (tenant_id, notification_id);

ALTER TABLE ONLY notification.early_bounces
    ADD CONSTRAINT pk_early_bounces PRIMARY KEY (tenant_id, notification_id, attempt_id);

ALTER TABLE ONLY notification.erasures
    ADD CONSTRAINT pk_erasures PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.event_readers
    ADD CONSTRAINT pk_event_readers PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY notification.import_problems
    ADD CONSTRAINT pk_import_problems PRIMARY KEY (tenant_id, import_id, place);

ALTER TABLE ONLY notification.import_seen
    ADD CONSTRAINT pk_import_seen PRIMARY KEY (tenant_id, import_id, mark);

ALTER TABLE ONLY notification.imports
    ADD CONSTRAINT pk_imports PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.inbox_items
    ADD CONSTRAINT pk_inbox_items PRIMARY KEY (tenant_id, created_at, id);

ALTER TABLE ONLY notification.inboxes
    ADD CONSTRAINT pk_inboxes PRIMARY KEY (tenant_id, recipient_id, is_test);

ALTER TABLE ONLY notification.layouts
    ADD CONSTRAINT pk_layouts PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY notification.notification_preferences
    ADD CONSTRAINT pk_notification_preferences PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.notification_scheduled
    ADD CONSTRAINT pk_notification_scheduled PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.notification_trigger_map
    ADD CONSTRAINT pk_notification_trigger_map PRIMARY KEY (id);

ALTER TABLE ONLY notification.opt_out_tokens
    ADD CONSTRAINT pk_opt_out_tokens PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.outbox
    ADD CONSTRAINT pk_outbox PRIMARY KEY (seq);

ALTER TABLE ONLY notification.received_event_ledger
    ADD CONSTRAINT pk_received_event_ledger PRIMARY KEY (tenant_id, identity_hash);

ALTER TABLE ONLY notification.received_events
    ADD CONSTRAINT pk_received_events PRIMARY KEY (tenant_id, id, received_at);

ALTER TABLE ONLY notification.recipient_addresses
    ADD CONSTRAINT pk_recipient_addresses PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.recipients
    ADD CONSTRAINT pk_recipients PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.searchable_metadata
    ADD CONSTRAINT pk_searchable_metadata PRIMARY KEY (tenant_id, notification_id, key, created_at);

ALTER TABLE ONLY notification.soft_bounces
    ADD CONSTRAINT pk_soft_bounces PRIMARY KEY (tenant_id, target_id, notification_id);

ALTER TABLE ONLY notification.suppression_counts
    ADD CONSTRAINT pk_suppression_counts PRIMARY KEY (tenant_id, channel, reason, bucket);

ALTER TABLE ONLY notification.suppressions
    ADD CONSTRAINT pk_suppressions PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.template_assets
    ADD CONSTRAINT pk_template_assets PRIMARY KEY (tenant_id, version_id, name);

ALTER TABLE ONLY notification.template_versions
    ADD CONSTRAINT pk_template_versions PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.templates
    ADD CONSTRAINT pk_templates PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.tenants_local
    ADD CONSTRAINT pk_tenants_local PRIMARY KEY (tenant_id);

ALTER TABLE ONLY notification.trigger_choices
    ADD CONSTRAINT pk_trigger_choices PRIMARY KEY (tenant_id, trigger_id);

ALTER TABLE ONLY notification.trigger_firings
    ADD CONSTRAINT pk_trigger_firings PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.trigger_subjects
    ADD CONSTRAINT pk_trigger_subjects PRIMARY KEY (tenant_id, trigger_id, event_source, event_subject);

ALTER TABLE ONLY notification.trigger_versions
    ADD CONSTRAINT pk_trigger_versions PRIMARY KEY (trigger_id, version);

ALTER TABLE ONLY notification.webhook_call_counts
    ADD CONSTRAINT pk_webhook_call_counts PRIMARY KEY (tenant_id, subscription_id, hour);

ALTER TABLE ONLY notification.webhook_deliveries
    ADD CONSTRAINT pk_webhook_deliveries PRIMARY KEY (tenant_id, created_at, id);

ALTER TABLE ONLY notification.webhook_endpoints
    ADD CONSTRAINT pk_webhook_endpoints PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.webhook_portal_links
    ADD CONSTRAINT pk_webhook_portal_links PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.webhook_subscriptions
    ADD CONSTRAINT pk_webhook_subscriptions PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY notification.audit_heads
    ADD CONSTRAINT uq_audit_heads_stream UNIQUE NULLS NOT DISTINCT (tenant_id, entity_type);

ALTER TABLE ONLY notification.audit
    ADD CONSTRAINT uq_audit_id UNIQUE NULLS NOT DISTINCT (tenant_id, occurred_at, id);

ALTER TABLE ONLY notification.audit
    ADD CONSTRAINT uq_audit_stream UNIQUE NULLS NOT DISTINCT (tenant_id, entity_type, seq, occurred_at);

ALTER TABLE ONLY notification.channels
    ADD CONSTRAINT uq_channels_channel UNIQUE (tenant_id, channel);

ALTER TABLE ONLY notification.erasures
    ADD CONSTRAINT uq_erasures_recipient UNIQUE (tenant_id, recipient_id);

ALTER TABLE ONLY notification.idempotency_keys
    ADD CONSTRAINT uq_idempotency_keys_key UNIQUE NULLS NOT DISTINCT (tenant_id, scope, key);

ALTER TABLE ONLY notification.notification_preferences
    ADD CONSTRAINT uq_notification_preferences_recipient UNIQUE (tenant_id, recipient_id);

ALTER TABLE ONLY notification.opt_out_tokens
    ADD CONSTRAINT uq_opt_out_tokens_hash UNIQUE (tenant_id, token_hash);

ALTER TABLE ONLY notification.recipient_addresses
    ADD CONSTRAINT uq_recipient_addresses_address UNIQUE (tenant_id, recipient_id, channel, address_hash);

ALTER TABLE ONLY notification.recipients
    ADD CONSTRAINT uq_recipients_identity UNIQUE (identity_id, identity_type, tenant_id);

ALTER TABLE ONLY notification.template_versions
    ADD CONSTRAINT uq_template_versions_semver UNIQUE (tenant_id, template_id, semver);

ALTER TABLE ONLY notification.templates
    ADD CONSTRAINT uq_templates_key_channel UNIQUE (tenant_id, key, channel);

ALTER TABLE ONLY notification.tenants_local
    ADD CONSTRAINT uq_tenants_local_slug UNIQUE (slug);

ALTER TABLE ONLY notification.webhook_portal_links
    ADD CONSTRAINT uq_webhook_portal_links_hash UNIQUE (tenant_id, token_hash);

ALTER TABLE ONLY notification_platform.categories
    ADD CONSTRAINT pk_categories PRIMARY KEY (category);

ALTER TABLE ONLY notification_platform.event_subscription_progress
    ADD CONSTRAINT pk_event_subscription_progress PRIMARY KEY (subscription_id);

ALTER TABLE ONLY notification_platform.event_subscription_refusals
    ADD CONSTRAINT pk_event_subscription_refusals PRIMARY KEY (subscription_id, id);

ALTER TABLE ONLY notification_platform.event_subscriptions
    ADD CONSTRAINT pk_event_subscriptions PRIMARY KEY (id);

ALTER TABLE ONLY notification_platform.suppressions
    ADD CONSTRAINT pk_suppressions PRIMARY KEY (id);

ALTER TABLE ONLY notification_platform.template_assets
    ADD CONSTRAINT pk_template_assets PRIMARY KEY (version_id, name);

ALTER TABLE ONLY notification_platform.template_versions
    ADD CONSTRAINT pk_template_versions PRIMARY KEY (id);

ALTER TABLE ONLY notification_platform.templates
    ADD CONSTRAINT pk_templates PRIMARY KEY (id);

ALTER TABLE ONLY notification_platform.event_subscription_refusals
    ADD CONSTRAINT uq_event_subscription_refusals_place UNIQUE (subscription_id, stream, "position");

ALTER TABLE ONLY notification_platform.template_versions
    ADD CONSTRAINT uq_template_versions_semver UNIQUE (template_id, semver);

ALTER TABLE ONLY notification_platform.templates
    ADD CONSTRAINT uq_templates_key_channel UNIQUE (key, channel);

CREATE INDEX ix_ai_decision_deliveries_claimed ON bff_backoffice.ai_decision_deliveries USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);

CREATE INDEX ix_ai_decision_deliveries_due ON bff_backoffice.ai_decision_deliveries USING btree (due_at) WHERE ((status = 'waiting'::text) AND (claimed_by IS NULL));

CREATE INDEX ix_ai_decision_log_suggestion ON ONLY bff_backoffice.ai_decision_log USING btree (tenant_id, suggestion_id, decided_at DESC);

CREATE INDEX ix_ai_inbox_entries_closed ON bff_backoffice.ai_inbox_entries USING btree (closed_at) WHERE (closed_at IS NOT NULL);

CREATE INDEX ix_ai_inbox_entries_expiry ON bff_backoffice.ai_inbox_entries USING btree (expires_at) WHERE (status = 'open'::text);

CREATE INDEX ix_alert_ack_log_time ON bff_backoffice.alert_ack_log USING btree (tenant_id, acknowledged_at DESC);

CREATE INDEX ix_alert_mutes_until ON bff_backoffice.alert_mutes USING btree (muted_until);

CREATE INDEX ix_alert_notices_told ON bff_backoffice.alert_notices USING btree (told_at);

CREATE INDEX ix_alert_subscriptions_tenant ON bff_backoffice.alert_subscriptions USING btree (tenant_id, operator_id);

CREATE INDEX ix_alerts_open ON bff_backoffice.alerts USING btree (tenant_id, id) WHERE (resolved_at IS NULL);

CREATE INDEX ix_alerts_resolved ON bff_backoffice.alerts USING btree (resolved_at) WHERE (resolved_at IS NOT NULL);

CREATE INDEX ix_alerts_tenant ON bff_backoffice.alerts USING btree (tenant_id, id);

CREATE INDEX ix_announcements_told ON bff_backoffice.announcements USING btree (told_at);

CREATE INDEX ix_attestations_expiry ON bff_backoffice.attestations USING btree (expires_at);

CREATE INDEX ix_audit_entity ON ONLY bff_backoffice.audit USING btree (tenant_id, entity_type, entity_id, occurred_at DESC);

CREATE INDEX ix_consumed_events_expiry ON bff_backoffice.consumed_events USING btree (expires_at);

CREATE INDEX ix_device_keys_expiry ON bff_backoffice.device_keys USING btree (expires_at);

CREATE INDEX ix_device_proofs_expiry ON bff_backoffice.device_proofs USING btree (expires_at);

CREATE INDEX ix_device_sync_status_heartbeat ON bff_backoffice.device_sync_status USING btree (status, last_heartbeat_at DESC);

CREATE INDEX ix_device_sync_status_present ON bff_backoffice.device_sync_status USING btree (last_heartbeat_at) WHERE (status <> 'signed_out'::text);

CREATE INDEX ix_devices_last_used ON bff_backoffice.devices USING btree (last_used_at);

CREATE INDEX ix_idempotency_keys_expiry ON bff_backoffice.idempotency_keys USING btree (expires_at);

CREATE INDEX ix_lock_action_proxy_audit_operator ON ONLY bff_backoffice.lock_action_proxy_audit USING btree (tenant_id, operator_id, occurred_at DESC, id DESC);

CREATE INDEX ix_lock_action_proxy_audit_property ON ONLY bff_backoffice.lock_action_proxy_audit USING btree (tenant_id, property_id, occurred_at DESC, id DESC);

CREATE INDEX ix_lock_action_proxy_audit_reservation ON ONLY bff_backoffice.lock_action_proxy_audit USING btree (tenant_id, reservation_id, occurred_at DESC, id DESC);

CREATE INDEX ix_lock_actions_due ON bff_backoffice.lock_actions USING btree (due_at);

CREATE INDEX ix_notes_kept_until ON bff_backoffice.notes USING btree (kept_until);

CREATE INDEX ix_offline_action_queue_hints_device ON bff_backoffice.offline_action_queue_hints USING btree (tenant_id, device_id, reported_at DESC);

CREATE INDEX ix_offline_action_queue_hints_time ON bff_backoffice.offline_action_queue_hints USING btree (reported_at);

CREATE INDEX ix_operator_activity_action ON ONLY bff_backoffice.operator_activity USING btree (tenant_id, action, occurred_at DESC, id DESC);

CREATE INDEX ix_operator_activity_operator ON ONLY bff_backoffice.operator_activity USING btree (tenant_id, operator_id, occurred_at DESC, id DESC);

CREATE INDEX ix_operators_email ON bff_backoffice.operators USING btree (email_hash) WHERE (email_hash IS NOT NULL);

CREATE INDEX ix_operators_link_expiry ON bff_backoffice.operators USING btree (link_expires_at) WHERE (link_expires_at IS NOT NULL);

CREATE INDEX ix_operators_tenant ON bff_backoffice.operators USING btree (tenant_id, id);

CREATE INDEX ix_passkey_challenges_expiry ON bff_backoffice.passkey_challenges USING btree (expires_at);

CREATE INDEX ix_passkeys_operator ON bff_backoffice.passkeys USING btree (operator_id, id);

CREATE INDEX ix_sessions_expiry ON bff_backoffice.sessions USING btree (expires_at);

CREATE INDEX ix_sessions_operator ON bff_backoffice.sessions USING btree (tenant_id, operator_id, id);

CREATE UNIQUE INDEX ux_alerts_open ON bff_backoffice.alerts USING btree (tenant_id, dedup_key) NULLS NOT DISTINCT WHERE (resolved_at IS NULL);

CREATE UNIQUE INDEX ux_operators_email ON bff_backoffice.operators USING btree (tenant_id, email_hash) NULLS NOT DISTINCT WHERE (email_hash IS NOT NULL);

CREATE UNIQUE INDEX ux_passkeys_credential ON bff_backoffice.passkeys USING btree (credential_id);

CREATE UNIQUE INDEX ux_sessions_device ON bff_backoffice.sessions USING btree (tenant_id, device_id) NULLS NOT DISTINCT WHERE (ended_at IS NULL);

CREATE INDEX ix_adapter_status_map_code ON chan.adapter_status_map USING btree (provider_code);

CREATE INDEX ix_audit_entity ON ONLY chan.audit USING btree (tenant_id, entity_type, entity_id, occurred_at DESC);

CREATE INDEX ix_channel_adapter_configs_circuit ON chan.channel_adapter_configs USING btree (circuit_changed_at) WHERE (circuit_version > 0);

CREATE INDEX ix_channel_adapter_configs_provider ON chan.channel_adapter_configs USING btree (tenant_id, provider);

CREATE INDEX ix_circuit_counts_bad ON chan.circuit_counts USING btree (bucket) WHERE ((failed > 0) OR (slow > 0));

CREATE INDEX ix_consumed_events_expiry ON chan.consumed_events USING btree (expires_at);

CREATE INDEX ix_conversation_messages_claimed ON chan.conversation_messages USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);

CREATE INDEX ix_conversation_messages_due ON chan.conversation_messages USING btree (next_attempt_at) WHERE ((status = 'queued'::text) AND (claimed_by IS NULL));

CREATE INDEX ix_conversation_messages_transcript ON chan.conversation_messages USING btree (tenant_id, conversation_id, at, id);

CREATE INDEX ix_conversation_messages_turns ON chan.conversation_messages USING btree (tenant_id, next_attempt_at) WHERE ((status = 'queued'::text) AND (claimed_by IS NULL));

CREATE INDEX ix_conversations_closed ON chan.conversations USING btree (closed_at) WHERE (closed_at IS NOT NULL);

CREATE INDEX ix_conversations_key ON chan.conversations USING btree (tenant_id, sender_id, address_hash);

CREATE INDEX ix_conversations_platform ON chan.conversations USING btree (platform_hash, sender_id, channel, last_seen_at DESC) WHERE (platform_hash IS NOT NULL);

CREATE INDEX ix_conversations_recipient ON chan.conversations USING btree (tenant_id, recipient_id) WHERE (recipient_id IS NOT NULL);

CREATE INDEX ix_conversations_status_expiry ON chan.conversations USING btree (status, expires_at);

CREATE INDEX ix_delivery_attempt_events_attempt ON ONLY chan.delivery_attempt_events USING btree (tenant_id, attempt_id);

CREATE INDEX ix_delivery_attempt_events_code ON ONLY chan.delivery_attempt_events USING btree (tenant_id, provider_code, recorded_at) WHERE (provider_code IS NOT NULL);

CREATE INDEX ix_delivery_attempts_by_mail ON ONLY chan.delivery_attempts USING btree (id) WHERE (provider ~~ 'smtp%'::text);

CREATE INDEX ix_delivery_attempts_execution ON ONLY chan.delivery_attempts USING btree (tenant_id, execution_id);

CREATE INDEX ix_delivery_attempts_provider_message ON ONLY chan.delivery_attempts USING btree (provider_message_id, provider) WHERE (provider_message_id IS NOT NULL);

CREATE INDEX ix_delivery_inbox_expiry ON chan.delivery_inbox USING btree (expires_at);

CREATE INDEX ix_delivery_outbox_expiry ON chan.delivery_outbox USING btree (expires_at);

CREATE INDEX ix_erased_executions_age ON chan.erased_executions USING btree (erased_at);

CREATE INDEX ix_erased_executions_pending ON chan.erased_executions USING btree (erased_at) WHERE pending;

CREATE INDEX ix_executions_live_due ON chan.executions_live USING btree (priority, due_at) WHERE (claimed_by IS NULL);

CREATE INDEX ix_executions_live_waits ON chan.executions_live USING btree (due_at) WHERE ((waits_for IS NOT NULL) AND (claimed_by IS NULL));

CREATE INDEX ix_fallback_executions_notification ON ONLY chan.fallback_executions USING btree (tenant_id, notification_id, recipient_id);

CREATE INDEX ix_fallback_executions_recorded ON ONLY chan.fallback_executions USING brin (recorded_in) WITH (autosummarize='on', pages_per_range='32');

CREATE INDEX ix_inbound_deliveries_claimed ON chan.inbound_deliveries USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);

CREATE INDEX ix_inbound_deliveries_conversation ON chan.inbound_deliveries USING btree (tenant_id, conversation_id);

CREATE INDEX ix_inbound_deliveries_done ON chan.inbound_deliveries USING btree (updated_at) WHERE (status <> 'pending'::text);

CREATE INDEX ix_inbound_deliveries_due ON chan.inbound_deliveries USING btree (next_attempt_at) WHERE ((status = 'pending'::text) AND (claimed_by IS NULL));

CREATE INDEX ix_inbound_deliveries_turns ON chan.inbound_deliveries USING btree (tenant_id, next_attempt_at) WHERE ((status = 'pending'::text) AND (claimed_by IS NULL));

CREATE INDEX ix_inbound_messages_dead ON chan.inbound_messages USING btree (id) WHERE (status = 'dead'::text);

CREATE INDEX ix_inbound_messages_done ON chan.inbound_messages USING btree (updated_at) WHERE (status <> 'queued'::text);

CREATE INDEX ix_inbound_messages_due ON chan.inbound_messages USING btree (next_attempt_at) WHERE (status = 'queued'::text);

CREATE INDEX ix_inbound_messages_turns ON chan.inbound_messages USING btree (adapter, next_attempt_at, id) WHERE (status = 'queued'::text);

CREATE INDEX ix_inbound_unmatched_bucket ON chan.inbound_unmatched USING btree (bucket);

CREATE INDEX ix_outcome_statistics_hour ON chan.outcome_statistics USING btree (hour);

CREATE INDEX ix_recipient_profiles_discovery ON chan.recipient_profiles USING btree (tenant_id, discovery_state, id) WHERE (NOT erased);

CREATE INDEX ix_shared_number_contacts_age ON chan.shared_number_contacts USING btree (last_sent_at);

CREATE INDEX ix_shared_number_contacts_person ON chan.shared_number_contacts USING btree (platform_hash, sender_id, channel);

CREATE INDEX ix_unknown_provider_codes_seen ON chan.unknown_provider_codes USING btree (last_seen);

CREATE INDEX ix_vendor_weights_updated ON chan.vendor_weights USING btree (updated_at);

CREATE INDEX ix_webhook_inbound_dedup_expiry ON chan.webhook_inbound_dedup USING btree (expires_at);

CREATE INDEX ix_webhook_inbound_events_dead ON ONLY chan.webhook_inbound_events USING btree (received_at, id) WHERE (status = 'dlq'::text);

CREATE INDEX ix_webhook_inbound_events_inbound ON ONLY chan.webhook_inbound_events USING btree (webhook_inbound_id);

CREATE INDEX ix_webhook_inbound_events_late ON ONLY chan.webhook_inbound_events USING btree (next_correlate_at) WHERE (status = 'late_correlate'::text);

CREATE INDEX ix_webhook_inbound_events_pending ON ONLY chan.webhook_inbound_events USING btree (status, received_at) WHERE (status = ANY (ARRAY['queued'::text, 'late_correlate'::text]));

CREATE INDEX ix_webhook_inbound_pending ON ONLY chan.webhook_inbound USING btree (received_at) WHERE (status = 'received'::text);

CREATE INDEX ix_webhook_inbound_recent ON ONLY chan.webhook_inbound USING btree (vendor, received_at DESC);

CREATE INDEX ix_webhook_inbound_refused ON ONLY chan.webhook_inbound USING btree (received_at, id) WHERE (status = ANY (ARRAY['rejected'::text, 'dlq'::text]));

CREATE UNIQUE INDEX ux_conversations_open ON chan.conversations USING btree (tenant_id, channel, sender_id, address_hash) WHERE (status = 'OPEN'::text);

CREATE UNIQUE INDEX ux_fallback_policies_use_case ON chan.fallback_policies USING btree (tenant_id, use_case) WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX ux_tenant_inbound_routes_default ON chan.tenant_inbound_routes USING btree (tenant_id) WHERE (active AND (inbound IS NULL));

CREATE UNIQUE INDEX ux_tenant_inbound_routes_own ON chan.tenant_inbound_routes USING btree (tenant_id, inbound) WHERE active;

CREATE UNIQUE INDEX ux_tenant_inbound_routes_shared ON chan.tenant_inbound_routes USING btree (ltrim(inbound, '+'::text)) WHERE (active AND platform);

COMMENT ON INDEX chan.ux_tenant_inbound_routes_shared IS 'A number on shared accounts, with its plus or without, belongs to one tenant at a time; nobody learns whose by being refused.';

CREATE INDEX ix_audit_anchor_lines_stream ON kernel.audit_anchor_lines USING btree (tenant_id, log, entity_type, seq);

CREATE INDEX ix_bus_parked_due ON kernel.bus_parked USING btree (group_name, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX ix_bus_parked_lane ON kernel.bus_parked USING btree (group_name, lane, "position");

CREATE INDEX ix_data_keys_tenant_key ON kernel.data_keys USING btree (tenant_id, tenant_key_version) WHERE (destroyed_at IS NULL);

CREATE INDEX ix_dead_letters_expiry ON kernel.dead_letters USING btree (expires_at);

CREATE INDEX ix_dead_letters_group ON kernel.dead_letters USING btree (group_name, id);

CREATE INDEX ix_hot_leases_expiry ON kernel.hot_leases USING btree (expires_at);

CREATE INDEX ix_hot_limits_expiry ON kernel.hot_limits USING btree (expires_at);

CREATE INDEX ix_hot_presence_expiry ON kernel.hot_presence USING btree (expires_at);

CREATE INDEX ix_hot_seen_expiry ON kernel.hot_seen USING btree (expires_at);

CREATE INDEX ix_address_refusals_address ON notification.address_refusals USING btree (tenant_id, address_hash);

CREATE INDEX ix_api_keys_expiry ON notification.api_keys USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (revoked_at IS NULL) AND (rotated_to IS NULL));

CREATE INDEX ix_api_keys_tenant ON notification.api_keys USING btree (tenant_id, id);

CREATE INDEX ix_audit_entity ON ONLY notification.audit USING btree (tenant_id, entity_type, entity_id, occurred_at DESC);

CREATE INDEX ix_batch_people_planned ON notification.batch_people USING btree (tenant_id, batch_id, send_at, recipient_id) WHERE (send_at IS NOT NULL);

CREATE INDEX ix_batch_people_unread ON notification.batch_people USING btree (tenant_id, batch_id, recipient_id) WHERE (unread_answers > 0);

CREATE INDEX ix_consumed_events_expiry ON notification.consumed_events USING btree (expires_at);

CREATE INDEX ix_counters_trouble ON notification.counters USING btree (day, tenant_id, channel, name) WHERE (name = ANY (ARRAY['bounced'::text, 'complaint'::text]));

CREATE INDEX ix_dedup_ledger_expiry ON notification.dedup_ledger USING btree (expires_at);

CREATE INDEX ix_delivery_attempts_notification ON ONLY notification.delivery_attempts USING btree (tenant_id, notification_id, attempt_number);

CREATE INDEX ix_digest_windows_claimed ON notification.digest_windows USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);

CREATE INDEX ix_digest_windows_due ON notification.digest_windows USING btree (flush_at) WHERE ((state <> 'flushed'::text) AND (claimed_by IS NULL));

CREATE INDEX ix_digest_windows_flushed ON notification.digest_windows USING btree (flushed_at) WHERE (flushed_at IS NOT NULL);

CREATE INDEX ix_digest_windows_recipient ON notification.digest_windows USING btree (tenant_id, recipient_id);

CREATE INDEX ix_dispatch_batches_claimed ON notification.dispatch_batches USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);

CREATE INDEX ix_dispatch_batches_due ON notification.dispatch_batches USING btree (due_at) WHERE ((due_at IS NOT NULL) AND (claimed_by IS NULL));

CREATE INDEX ix_dispatch_batches_status ON notification.dispatch_batches USING btree (tenant_id, status, created_at DESC);

CREATE INDEX ix_dispatch_queue_free ON notification.dispatch_queue USING btree (priority, tenant_id, notification_id) WHERE (claimed_by IS NULL);

CREATE INDEX ix_dispatch_requests_look ON notification.dispatch_requests USING btree (look_at);

CREATE INDEX ix_early_bounces_age ON notification.early_bounces USING btree (bounced_at);

CREATE INDEX ix_idempotency_keys_expiry ON notification.idempotency_keys USING btree (expires_at);

CREATE INDEX ix_imports_updated ON notification.imports USING btree (updated_at);

CREATE INDEX ix_inbox_items_category ON ONLY notification.inbox_items USING btree (tenant_id, recipient_id, is_test, category, place) WHERE (removed_at IS NULL);

CREATE INDEX ix_inbox_items_due ON ONLY notification.inbox_items USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX ix_inbox_items_feed ON ONLY notification.inbox_items USING btree (tenant_id, recipient_id, is_test, place) WHERE (removed_at IS NULL);

CREATE INDEX ix_inbox_items_unread ON ONLY notification.inbox_items USING btree (tenant_id, recipient_id, is_test, place) WHERE ((removed_at IS NULL) AND (read_at IS NULL));

CREATE INDEX ix_inbox_items_unseen ON ONLY notification.inbox_items USING btree (tenant_id, recipient_id, is_test, place) WHERE ((removed_at IS NULL) AND (seen_at IS NULL));

CREATE INDEX ix_inbox_items_version ON ONLY notification.inbox_items USING btree (tenant_id, recipient_id, is_test, version);

CREATE INDEX ix_notification_scheduled_about ON notification.notification_scheduled USING btree (tenant_id, event_subject, id DESC) WHERE (event_subject IS NOT NULL);

CREATE INDEX ix_notification_scheduled_due ON notification.notification_scheduled USING btree (run_after) WHERE ((processed_at IS NULL) AND (obsolete = false));

CREATE INDEX ix_notification_scheduled_failed ON notification.notification_scheduled USING btree (tenant_id, id) WHERE (failed_at IS NOT NULL);

CREATE INDEX ix_notification_scheduled_notification ON notification.notification_scheduled USING btree (tenant_id, notification_id) WHERE (notification_id IS NOT NULL);

CREATE INDEX ix_notification_scheduled_over ON notification.notification_scheduled USING btree (processed_at) WHERE ((processed_at IS NOT NULL) AND (trigger_id IS NULL));

CREATE INDEX ix_notification_scheduled_payload ON notification.notification_scheduled USING btree (tenant_id, recipient_id) WHERE (payload_ciphertext IS NOT NULL);

CREATE INDEX ix_notification_scheduled_planned_over ON notification.notification_scheduled USING btree (processed_at) WHERE ((processed_at IS NOT NULL) AND (trigger_id IS NOT NULL));

CREATE INDEX ix_notification_scheduled_planned_subject ON notification.notification_scheduled USING btree (tenant_id, trigger_id, event_source, event_subject) WHERE ((trigger_id IS NOT NULL) AND (payload_ciphertext IS NOT NULL));

CREATE INDEX ix_notification_scheduled_quiet ON notification.notification_scheduled USING btree (tenant_id, recipient_id) WHERE ((kind = 'quiet_hours'::text) AND (processed_at IS NULL) AND (obsolete = false));

CREATE INDEX ix_notification_scheduled_recipient ON notification.notification_scheduled USING btree (tenant_id, recipient_id, id DESC) WHERE (recipient_id IS NOT NULL);

CREATE INDEX ix_notification_scheduled_source ON notification.notification_scheduled USING btree (tenant_id, source_event_id) WHERE ((processed_at IS NULL) AND (source_event_id IS NOT NULL));

CREATE INDEX ix_notification_trigger_map_tenant ON notification.notification_trigger_map USING btree (tenant_id, id);

CREATE INDEX ix_notifications_correlated ON ONLY notification.notifications USING btree (tenant_id, correlation_id, created_at DESC, id DESC) WHERE (correlation_id IS NOT NULL);

CREATE INDEX ix_notifications_digest_group ON ONLY notification.notifications USING btree (tenant_id, digest_group_id) WHERE (digest_group_id IS NOT NULL);

CREATE INDEX ix_notifications_in_batch ON ONLY notification.notifications USING btree (tenant_id, batch_id, created_at DESC, id DESC) WHERE (batch_id IS NOT NULL);

CREATE INDEX ix_notifications_recipient ON ONLY notification.notifications USING btree (recipient_id, created_at DESC);

CREATE INDEX ix_notifications_unread ON ONLY notification.notifications USING btree (tenant_id, recipient_id, created_at DESC) WHERE ((channel = 'inapp'::text) AND (read_at IS NULL));

CREATE INDEX ix_opt_out_tokens_expiry ON notification.opt_out_tokens USING btree (expires_at);

CREATE INDEX ix_received_event_ledger_expiry ON notification.received_event_ledger USING btree (expires_at);

CREATE INDEX ix_recipient_addresses_hash ON notification.recipient_addresses USING btree (tenant_id, channel, address_hash);

CREATE INDEX ix_recipients_tenant_admins ON notification.recipients USING btree (tenant_id, id) WHERE (tags @> ARRAY['tenant_admin'::text]);

CREATE INDEX ix_searchable_metadata_value ON ONLY notification.searchable_metadata USING btree (tenant_id, key, value_hash, created_at DESC, notification_id DESC);

CREATE INDEX ix_soft_bounces_address ON notification.soft_bounces USING btree (tenant_id, channel, address_hash);

CREATE INDEX ix_soft_bounces_age ON notification.soft_bounces USING btree (bounced_at);

CREATE INDEX ix_suppression_counts_fresh ON notification.suppression_counts USING btree (tenant_id, bucket) WHERE (bucket <> 0);

CREATE INDEX ix_suppressions_expiring ON notification.suppressions USING btree (expires_at) WHERE ((released_at IS NULL) AND (expires_at IS NOT NULL));

CREATE INDEX ix_suppressions_expiry ON notification.suppressions USING btree (tenant_id, expires_at) WHERE ((released_at IS NULL) AND (expires_at IS NOT NULL));

CREATE INDEX ix_suppressions_released ON notification.suppressions USING btree (tenant_id, channel, address_hash, released_at) WHERE (released_at IS NOT NULL);

CREATE INDEX ix_template_versions_unapproved ON notification.template_versions USING btree (updated_at) WHERE ((status = 'draft'::text) AND (source = 'ai_drafted'::text) AND (approver_user_id IS NULL));

CREATE INDEX ix_trigger_firings_event ON notification.trigger_firings USING btree (tenant_id, event_id);

CREATE INDEX ix_trigger_firings_expiry ON notification.trigger_firings USING btree (expires_at);

CREATE INDEX ix_trigger_firings_failed ON notification.trigger_firings USING btree (tenant_id, id) WHERE (result = 'failed'::text);

CREATE INDEX ix_trigger_firings_notification ON notification.trigger_firings USING btree (tenant_id, notification_id) WHERE (notification_id IS NOT NULL);

CREATE INDEX ix_trigger_firings_told ON notification.trigger_firings USING btree (tenant_id, trigger_id, event_source, event_subject, id DESC) WHERE ((event_subject IS NOT NULL) AND ((recipient_id IS NOT NULL) OR (result = 'cleared'::text) OR (reason = 'condition_not_met'::text)));

CREATE INDEX ix_trigger_subjects_expiry ON notification.trigger_subjects USING btree (expires_at);

CREATE INDEX ix_webhook_call_counts_hour ON notification.webhook_call_counts USING btree (hour);

CREATE INDEX ix_webhook_deliveries_due ON ONLY notification.webhook_deliveries USING btree (tenant_id, subscription_id, next_attempt_at, "position") WHERE (status = 'queued'::text);

CREATE INDEX ix_webhook_deliveries_lane ON ONLY notification.webhook_deliveries USING btree (tenant_id, subscription_id, ordering_key, "position") WHERE (status = ANY (ARRAY['queued'::text, 'blocked'::text]));

CREATE INDEX ix_webhook_deliveries_subscription ON ONLY notification.webhook_deliveries USING btree (tenant_id, subscription_id, created_at, id);

CREATE INDEX ix_webhook_endpoints_claimed ON notification.webhook_endpoints USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);

CREATE INDEX ix_webhook_endpoints_due ON notification.webhook_endpoints USING btree (due_at) WHERE ((due_at IS NOT NULL) AND (claimed_by IS NULL));

CREATE INDEX ix_webhook_portal_links_customer ON notification.webhook_portal_links USING btree (tenant_id, customer) WHERE (customer IS NOT NULL);

CREATE INDEX ix_webhook_portal_links_expiry ON notification.webhook_portal_links USING btree (expires_at);

CREATE INDEX ix_webhook_portal_links_subscription ON notification.webhook_portal_links USING btree (tenant_id, subscription_id);

CREATE INDEX ix_webhook_subscriptions_customer ON notification.webhook_subscriptions USING btree (tenant_id, customer, id) WHERE (customer IS NOT NULL);

CREATE INDEX ix_webhook_subscriptions_disabled ON notification.webhook_subscriptions USING btree (tenant_id, id) WHERE (status = 'disabled'::text);

CREATE INDEX notifications_marketing__ix_notifications_correlated ON ONLY notification.notifications_marketing USING btree (tenant_id, correlation_id, created_at DESC, id DESC) WHERE (correlation_id IS NOT NULL);

CREATE INDEX notifications_marketing__ix_notifications_digest_group ON ONLY notification.notifications_marketing USING btree (tenant_id, digest_group_id) WHERE (digest_group_id IS NOT NULL);

CREATE INDEX notifications_marketing__ix_notifications_in_batch ON ONLY notification.notifications_marketing USING btree (tenant_id, batch_id, created_at DESC, id DESC) WHERE (batch_id IS NOT NULL);

CREATE INDEX notifications_marketing__ix_notifications_unread ON ONLY notification.notifications_marketing USING btree (tenant_id, recipient_id, created_at DESC) WHERE ((channel = 'inapp'::text) AND (read_at IS NULL));

CREATE INDEX notifications_marketing_recipient_id_created_at_idx ON ONLY notification.notifications_marketing USING btree (recipient_id, created_at DESC);

CREATE INDEX notifications_regulated__ix_notifications_correlated ON ONLY notification.notifications_regulated USING btree (tenant_id, correlation_id, created_at DESC, id DESC) WHERE (correlation_id IS NOT NULL);

CREATE INDEX notifications_regulated__ix_notifications_digest_group ON ONLY notification.notifications_regulated USING btree (tenant_id, digest_group_id) WHERE (digest_group_id IS NOT NULL);

CREATE INDEX notifications_regulated__ix_notifications_in_batch ON ONLY notification.notifications_regulated USING btree (tenant_id, batch_id, created_at DESC, id DESC) WHERE (batch_id IS NOT NULL);

CREATE INDEX notifications_regulated__ix_notifications_unread ON ONLY notification.notifications_regulated USING btree (tenant_id, recipient_id, created_at DESC) WHERE ((channel = 'inapp'::text) AND (read_at IS NULL));

CREATE INDEX notifications_regulated_recipient_id_created_at_idx ON ONLY notification.notifications_regulated USING btree (recipient_id, created_at DESC);

CREATE INDEX notifications_standard__ix_notifications_correlated ON ONLY notification.notifications_standard USING btree (tenant_id, correlation_id, created_at DESC, id DESC) WHERE (correlation_id IS NOT NULL);

CREATE INDEX notifications_standard__ix_notifications_digest_group ON ONLY notification.notifications_standard USING btree (tenant_id, digest_group_id) WHERE (digest_group_id IS NOT NULL);

CREATE INDEX notifications_standard__ix_notifications_in_batch ON ONLY notification.notifications_standard USING btree (tenant_id, batch_id, created_at DESC, id DESC) WHERE (batch_id IS NOT NULL);

CREATE INDEX notifications_standard__ix_notifications_unread ON ONLY notification.notifications_standard USING btree (tenant_id, recipient_id, created_at DESC) WHERE ((channel = 'inapp'::text) AND (read_at IS NULL));

CREATE INDEX notifications_standard_recipient_id_created_at_idx ON ONLY notification.notifications_standard USING btree (recipient_id, created_at DESC);

CREATE UNIQUE INDEX uq_address_refusals_holding ON notification.address_refusals USING btree (tenant_id, channel, address_hash, COALESCE(category, ''::text)) WHERE (withdrawn_at IS NULL);

CREATE UNIQUE INDEX uq_digest_windows_open ON notification.digest_windows USING btree (tenant_id, recipient_id, category, channel, digest_key, is_test) WHERE (state = 'open'::text);

CREATE UNIQUE INDEX ux_channel_credentials_active ON notification.channel_credentials USING btree (tenant_id, channel_id, vendor) WHERE (status = 'active'::text);

CREATE UNIQUE INDEX ux_imports_key ON notification.imports USING btree (tenant_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE UNIQUE INDEX ux_notification_trigger_map_set ON notification.notification_trigger_map USING btree (set_name, set_key) WHERE ((tenant_id IS NULL) AND (deleted_at IS NULL) AND (set_key IS NOT NULL));

CREATE UNIQUE INDEX ux_recipient_addresses_primary ON notification.recipient_addresses USING btree (tenant_id, recipient_id, channel) WHERE is_primary;

CREATE UNIQUE INDEX ux_suppressions_in_force ON notification.suppressions USING btree (tenant_id, channel, address_hash) WHERE (released_at IS NULL);

CREATE UNIQUE INDEX ux_template_versions_active ON notification.template_versions USING btree (tenant_id, template_id) WHERE (status = 'active'::text);

CREATE INDEX ix_event_subscription_refusals_age ON notification_platform.event_subscription_refusals USING btree (refused_at);

CREATE UNIQUE INDEX ux_event_subscriptions_name ON notification_platform.event_subscriptions USING btree (name) WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX ux_suppressions_address_in_force ON notification_platform.suppressions USING btree (channel, address_hash) WHERE ((released_at IS NULL) AND (address_hash IS NOT NULL));

CREATE UNIQUE INDEX ux_suppressions_domain_in_force ON notification_platform.suppressions USING btree (mail_domain) WHERE ((released_at IS NULL) AND (mail_domain IS NOT NULL));

CREATE UNIQUE INDEX ux_template_versions_active ON notification_platform.template_versions USING btree (template_id) WHERE (status = 'active'::text);

ALTER INDEX notification.ix_notifications_correlated ATTACH PARTITION notification.notifications_marketing__ix_notifications_correlated;

ALTER INDEX notification.ix_notifications_digest_group ATTACH PARTITION notification.notifications_marketing__ix_notifications_digest_group;

ALTER INDEX notification.ix_notifications_in_batch ATTACH PARTITION notification.notifications_marketing__ix_notifications_in_batch;

ALTER INDEX notification.ix_notifications_unread ATTACH PARTITION notification.notifications_marketing__ix_notifications_unread;

ALTER INDEX notification.pk_notifications ATTACH PARTITION notification.notifications_marketing_pkey;

ALTER INDEX notification.ix_notifications_recipient ATTACH PARTITION notification.notifications_marketing_recipient_id_created_at_idx;

ALTER INDEX notification.ix_notifications_correlated ATTACH PARTITION notification.notifications_regulated__ix_notifications_correlated;

ALTER INDEX notification.ix_notifications_digest_group ATTACH PARTITION notification.notifications_regulated__ix_notifications_digest_group;

ALTER INDEX notification.ix_notifications_in_batch ATTACH PARTITION notification.notifications_regulated__ix_notifications_in_batch;

ALTER INDEX notification.ix_notifications_unread ATTACH PARTITION notification.notifications_regulated__ix_notifications_unread;

ALTER INDEX notification.pk_notifications ATTACH PARTITION notification.notifications_regulated_pkey;

ALTER INDEX notification.ix_notifications_recipient ATTACH PARTITION notification.notifications_regulated_recipient_id_created_at_idx;

ALTER INDEX notification.ix_notifications_correlated ATTACH PARTITION notification.notifications_standard__ix_notifications_correlated;

ALTER INDEX notification.ix_notifications_digest_group ATTACH PARTITION notification.notifications_standard__ix_notifications_digest_group;

ALTER INDEX notification.ix_notifications_in_batch ATTACH PARTITION notification.notifications_standard__ix_notifications_in_batch;

ALTER INDEX notification.ix_notifications_unread ATTACH PARTITION notification.notifications_standard__ix_notifications_unread;

ALTER INDEX notification.pk_notifications ATTACH PARTITION notification.notifications_standard_pkey;

ALTER INDEX notification.ix_notifications_recipient ATTACH PARTITION notification.notifications_standard_recipient_id_created_at_idx;

CREATE TRIGGER announce AFTER INSERT ON bff_backoffice.outbox FOR EACH STATEMENT EXECUTE FUNCTION kernel.announce_outbox();

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON bff_backoffice.alert_mutes FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE OF status, severity ON bff_backoffice.alerts FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE ON bff_backoffice.device_keys FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('session_id');

CREATE TRIGGER announce_change AFTER UPDATE ON bff_backoffice.operators FOR EACH ROW WHEN ((old.grant_hash IS DISTINCT FROM new.grant_hash)) EXECUTE FUNCTION kernel.announce_change('id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON bff_backoffice.sessions FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('id');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON bff_backoffice.ai_decision_log FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON bff_backoffice.audit FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON bff_backoffice.lock_action_proxy_audit FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON bff_backoffice.operator_activity FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON bff_backoffice.ai_decision_log FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON bff_backoffice.audit FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON bff_backoffice.lock_action_proxy_audit FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON bff_backoffice.operator_activity FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER forget_alert_subscription AFTER UPDATE OF erased_at ON bff_backoffice.operators FOR EACH ROW WHEN (((new.erased_at IS NOT NULL) AND (old.erased_at IS NULL))) EXECUTE FUNCTION bff_backoffice.forget_alert_subscription();

CREATE CONSTRAINT TRIGGER number_at_commit AFTER INSERT ON bff_backoffice.announcements DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bff_backoffice.number_announcement();

CREATE TRIGGER announce AFTER INSERT ON chan.outbox FOR EACH STATEMENT EXECUTE FUNCTION kernel.announce_outbox();

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON chan.adapter_status_map FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE OF phone_number_id_or_handle, secret_ref, rate_limit_per_second, rate_limit_per_day, pricing_model, active, version ON chan.channel_adapter_configs FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON chan.fallback_policies FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON chan.audit FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON chan.delivery_attempt_events FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON chan.delivery_attempts FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON chan.fallback_executions FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON chan.audit FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON chan.delivery_attempt_events FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON chan.delivery_attempts FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON chan.fallback_executions FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON kernel.audit_anchor_lines FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON kernel.audit_anchors FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON kernel.audit_anchor_lines FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON kernel.audit_anchors FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER destroyed_stays_destroyed BEFORE UPDATE ON kernel.data_keys FOR EACH ROW WHEN ((old.destroyed_at IS NOT NULL)) EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER schema_migrations_log_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON kernel.schema_migrations_log FOR EACH STATEMENT EXECUTE FUNCTION kernel.schema_migrations_log_is_append_only();

CREATE TRIGGER announce AFTER INSERT ON notification.dispatch_queue REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION kernel.announce_queue('notification.dispatch');

CREATE TRIGGER announce AFTER INSERT ON notification.outbox FOR EACH STATEMENT EXECUTE FUNCTION kernel.announce_outbox();

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE OF secret_hash, scopes, role, environment, expires_at, revoked_at, rotated_to, overlap_ends_at, seal ON notification.api_keys FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification.branding FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification.categories FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification.channels FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification.notification_trigger_map FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification.templates FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification.tenants_local FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification.trigger_choices FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification.webhook_subscriptions FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON notification.audit FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON notification.consent_events FOR EACH ROW EXECUTE FUNCTION notification.keep_consent_event();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON notification.delivery_attempts FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON notification.erasures FOR EACH ROW EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON notification.audit FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON notification.consent_events FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON notification.delivery_attempts FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON notification.erasures FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER count_added AFTER INSERT ON notification.suppressions REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION notification.count_suppressions();

CREATE TRIGGER count_changed AFTER UPDATE ON notification.suppressions REFERENCING OLD TABLE AS gone NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION notification.count_suppressions();

CREATE TRIGGER known_category BEFORE INSERT OR UPDATE OF category ON notification.templates FOR EACH ROW EXECUTE FUNCTION notification.refuse_unknown_category();

CREATE TRIGGER published_asset_frozen BEFORE INSERT OR DELETE OR UPDATE ON notification.template_assets FOR EACH ROW EXECUTE FUNCTION notification.refuse_published_asset();

CREATE TRIGGER published_content_frozen BEFORE UPDATE ON notification.template_versions FOR EACH ROW WHEN (((old.status <> 'draft'::text) AND ((new.status = 'draft'::text) OR ((((((old.semver IS DISTINCT FROM new.semver) OR (old.template_id IS DISTINCT FROM new.template_id)) OR (old.source IS DISTINCT FROM new.source)) OR (old.variables_schema IS DISTINCT FROM new.variables_schema)) OR (old.locales IS DISTINCT FROM new.locales)) OR (old.fallback_chain IS DISTINCT FROM new.fallback_chain))))) EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER published_kept BEFORE DELETE ON notification.template_versions FOR EACH ROW WHEN ((old.status <> 'draft'::text)) EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER published_parts_frozen BEFORE UPDATE ON notification.template_versions FOR EACH ROW WHEN (((old.status <> 'draft'::text) AND (((((old.partials IS DISTINCT FROM new.partials) OR (old.strings IS DISTINCT FROM new.strings)) OR (old.layout IS DISTINCT FROM new.layout)) OR (old.assets IS DISTINCT FROM new.assets)) OR (old.ai_provenance IS DISTINCT FROM new.ai_provenance)))) EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification_platform.categories FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification_platform.event_subscriptions FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('id');

CREATE TRIGGER announce_change AFTER INSERT OR DELETE OR UPDATE ON notification_platform.templates FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');

CREATE TRIGGER published_asset_frozen BEFORE INSERT OR DELETE OR UPDATE ON notification_platform.template_assets FOR EACH ROW EXECUTE FUNCTION notification_platform.refuse_published_asset();

CREATE TRIGGER published_content_frozen BEFORE UPDATE ON notification_platform.template_versions FOR EACH ROW WHEN (((old.status <> 'draft'::text) AND ((new.status = 'draft'::text) OR ((((((old.semver IS DISTINCT FROM new.semver) OR (old.template_id IS DISTINCT FROM new.template_id)) OR (old.source IS DISTINCT FROM new.source)) OR (old.variables_schema IS DISTINCT FROM new.variables_schema)) OR (old.locales IS DISTINCT FROM new.locales)) OR (old.fallback_chain IS DISTINCT FROM new.fallback_chain))))) EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER published_kept BEFORE DELETE ON notification_platform.template_versions FOR EACH ROW WHEN ((old.status <> 'draft'::text)) EXECUTE FUNCTION kernel.refuse_change();

CREATE TRIGGER published_parts_frozen BEFORE UPDATE ON notification_platform.template_versions FOR EACH ROW WHEN (((old.status <> 'draft'::text) AND (((((old.partials IS DISTINCT FROM new.partials) OR (old.strings IS DISTINCT FROM new.strings)) OR (old.layout IS DISTINCT FROM new.layout)) OR (old.assets IS DISTINCT FROM new.assets)) OR (old.ai_provenance IS DISTINCT FROM new.ai_provenance)))) EXECUTE FUNCTION kernel.refuse_change();

ALTER TABLE ONLY bff_backoffice.alert_subscriptions
    ADD CONSTRAINT fk_alert_subscriptions_operator FOREIGN KEY (operator_id) REFERENCES bff_backoffice.operators(id);

ALTER TABLE ONLY bff_backoffice.passkeys
    ADD CONSTRAINT fk_passkeys_operator FOREIGN KEY (operator_id) REFERENCES bff_backoffice.operators(id);

ALTER TABLE ONLY bff_backoffice.sessions
    ADD CONSTRAINT fk_sessions_operator FOREIGN KEY (operator_id) REFERENCES bff_backoffice.operators(id);

ALTER TABLE ONLY chan.conversation_messages
    ADD CONSTRAINT fk_conversation_messages_conversation FOREIGN KEY (tenant_id, conversation_id) REFERENCES chan.conversations(tenant_id, id);

ALTER TABLE ONLY chan.fallback_policy_versions
    ADD CONSTRAINT fk_fallback_policy_versions_policy FOREIGN KEY (tenant_id, policy_id) REFERENCES chan.fallback_policies(tenant_id, id);

ALTER TABLE ONLY kernel.bus_parked
    ADD CONSTRAINT fk_bus_parked_consumer FOREIGN KEY (group_name) REFERENCES kernel.bus_consumers(group_name) ON DELETE CASCADE;

ALTER TABLE ONLY notification.api_keys
    ADD CONSTRAINT fk_api_keys_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.branding
    ADD CONSTRAINT fk_branding_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.categories
    ADD CONSTRAINT fk_categories_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.channel_credentials
    ADD CONSTRAINT fk_channel_credentials_channel FOREIGN KEY (tenant_id, channel_id) REFERENCES notification.channels(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY notification.channels
    ADD CONSTRAINT fk_channels_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.digest_windows
    ADD CONSTRAINT fk_digest_windows_recipient FOREIGN KEY (tenant_id, recipient_id) REFERENCES notification.recipients(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY notification.dispatch_batches
    ADD CONSTRAINT fk_dispatch_batches_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.erasures
    ADD CONSTRAINT fk_erasures_recipient FOREIGN KEY (tenant_id, recipient_id) REFERENCES notification.recipients(tenant_id, id);

ALTER TABLE ONLY notification.import_problems
    ADD CONSTRAINT fk_import_problems_import FOREIGN KEY (tenant_id, import_id) REFERENCES notification.imports(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY notification.import_seen
    ADD CONSTRAINT fk_import_seen_import FOREIGN KEY (tenant_id, import_id) REFERENCES notification.imports(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY notification.imports
    ADD CONSTRAINT fk_imports_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.layouts
    ADD CONSTRAINT fk_layouts_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.notification_preferences
    ADD CONSTRAINT fk_notification_preferences_recipient FOREIGN KEY (tenant_id, recipient_id) REFERENCES notification.recipients(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY notification.notification_trigger_map
    ADD CONSTRAINT fk_notification_trigger_map_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.opt_out_tokens
    ADD CONSTRAINT fk_opt_out_tokens_recipient FOREIGN KEY (tenant_id, recipient_id) REFERENCES notification.recipients(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY notification.recipient_addresses
    ADD CONSTRAINT fk_recipient_addresses_recipient FOREIGN KEY (tenant_id, recipient_id) REFERENCES notification.recipients(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY notification.recipients
    ADD CONSTRAINT fk_recipients_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.soft_bounces
    ADD CONSTRAINT fk_soft_bounces_address FOREIGN KEY (tenant_id, target_id) REFERENCES notification.recipient_addresses(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY notification.suppressions
    ADD CONSTRAINT fk_suppressions_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.template_assets
    ADD CONSTRAINT fk_template_assets_version FOREIGN KEY (tenant_id, version_id) REFERENCES notification.template_versions(tenant_id, id);

ALTER TABLE ONLY notification.template_versions
    ADD CONSTRAINT fk_template_versions_template FOREIGN KEY (tenant_id, template_id) REFERENCES notification.templates(tenant_id, id);

ALTER TABLE ONLY notification.templates
    ADD CONSTRAINT fk_templates_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.trigger_choices
    ADD CONSTRAINT fk_trigger_choices_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification.webhook_subscriptions
    ADD CONSTRAINT fk_webhook_subscriptions_tenant FOREIGN KEY (tenant_id) REFERENCES notification.tenants_local(tenant_id);

ALTER TABLE ONLY notification_platform.event_subscription_progress
    ADD CONSTRAINT fk_event_subscription_progress_subscription FOREIGN KEY (subscription_id) REFERENCES notification_platform.event_subscriptions(id) ON DELETE CASCADE;

ALTER TABLE ONLY notification_platform.event_subscription_refusals
    ADD CONSTRAINT fk_event_subscription_refusals_subscription FOREIGN KEY (subscription_id) REFERENCES notification_platform.event_subscriptions(id) ON DELETE CASCADE;

ALTER TABLE ONLY notification_platform.template_assets
    ADD CONSTRAINT fk_template_assets_version FOREIGN KEY (version_id) REFERENCES notification_platform.template_versions(id);

ALTER TABLE ONLY notification_platform.template_versions
    ADD CONSTRAINT fk_template_versions_template FOREIGN KEY (template_id) REFERENCES notification_platform.templates(id);

ALTER TABLE ONLY notification_platform.templates
    ADD CONSTRAINT fk_templates_category FOREIGN KEY (category) REFERENCES notification_platform.categories(category);

ALTER TABLE bff_backoffice.ai_decision_deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.ai_decision_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.ai_decision_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.ai_inbox_entries ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.ai_inbox_places ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.alert_ack_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.alert_budgets ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.alert_mutes ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.alert_notices ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.alert_subscriptions ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.alerts ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.announcement_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.announcements ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.attestations ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.audit_heads ENABLE ROW LEVEL SECURITY;

CREATE POLICY break_glass ON bff_backoffice.ai_decision_deliveries FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.ai_decision_keys FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.ai_decision_log FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.ai_inbox_entries FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.ai_inbox_places FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.alert_ack_log FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.alert_budgets FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.alert_mutes FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.alert_notices FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.alert_subscriptions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.alerts FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.announcement_heads FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.announcements FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.attestations FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.audit FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.audit_heads FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.consumed_events FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.device_keys FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.device_proofs FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.device_sync_status FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.devices FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.exports FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.idempotency_keys FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.lock_action_proxy_audit FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.lock_actions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.notes FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.offline_action_queue_hints FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.operator_activity FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.operator_preferences FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.operators FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.outbox FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.passkey_challenges FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.passkeys FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON bff_backoffice.sessions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY caller_role_deletes ON bff_backoffice.ai_decision_deliveries AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.ai_decision_keys AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.ai_decision_log AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.ai_inbox_entries AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.ai_inbox_places AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.alert_ack_log AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.alert_budgets AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.alert_mutes AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.consumed_events AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.device_keys AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.device_proofs AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.device_sync_status AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.exports AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.idempotency_keys AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.notes AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.offline_action_queue_hints AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.operator_preferences AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.operators AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON bff_backoffice.outbox AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.ai_decision_deliveries AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.ai_decision_keys AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.ai_decision_log AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.ai_inbox_entries AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.ai_inbox_places AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.alert_ack_log AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.alert_budgets AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.alert_mutes AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.consumed_events AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.device_keys AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.device_proofs AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.device_sync_status AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.exports AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.idempotency_keys AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.notes AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.offline_action_queue_hints AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.operator_preferences AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.operators AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON bff_backoffice.outbox AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

ALTER TABLE bff_backoffice.consumed_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.device_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.device_proofs ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.device_sync_status ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.devices ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.exports ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.idempotency_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.lock_action_proxy_audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.lock_actions ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.notes ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.offline_action_queue_hints ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.operator_activity ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.operator_preferences ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.operators ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.passkey_challenges ENABLE ROW LEVEL SECURITY;

ALTER TABLE bff_backoffice.passkeys ENABLE ROW LEVEL SECURITY;

CREATE POLICY platform_access ON bff_backoffice.alert_ack_log TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.alert_mutes TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.alert_notices TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.alert_subscriptions TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.alerts TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.announcement_heads TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.announcements TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.attestations TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.audit TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.audit_heads TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.consumed_events TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON bff_backoffice.device_keys TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.device_proofs TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.devices TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.exports TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.idempotency_keys TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.operator_activity TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.operators TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.outbox TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON bff_backoffice.passkey_challenges TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.passkeys TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON bff_backoffice.sessions TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_looks_up ON bff_backoffice.device_keys FOR SELECT TO tidings_platform USING (true);

CREATE POLICY platform_looks_up ON bff_backoffice.devices FOR SELECT TO tidings_platform USING (true);

CREATE POLICY platform_looks_up ON bff_backoffice.operators FOR SELECT TO tidings_platform USING (true);

CREATE POLICY platform_looks_up ON bff_backoffice.passkeys FOR SELECT TO tidings_platform USING (true);

CREATE POLICY platform_looks_up ON bff_backoffice.sessions FOR SELECT TO tidings_platform USING (true);

ALTER TABLE bff_backoffice.sessions ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON bff_backoffice.ai_decision_deliveries TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.ai_decision_keys TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.ai_decision_log TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.ai_inbox_entries TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.ai_inbox_places TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.alert_ack_log TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.alert_budgets TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.alert_mutes TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.alert_notices TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.alert_subscriptions TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.alerts TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.announcement_heads TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.announcements TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.attestations TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.audit TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.audit_heads TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.consumed_events TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.device_keys TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.device_proofs TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.device_sync_status TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.devices TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.exports TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.idempotency_keys TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.lock_action_proxy_audit TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.lock_actions TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.notes TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.offline_action_queue_hints TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.operator_activity TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.operator_preferences TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.operators TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.outbox TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.passkey_challenges TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.passkeys TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON bff_backoffice.sessions TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_sets ON bff_backoffice.announcement_heads TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON bff_backoffice.announcements TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON bff_backoffice.consumed_events TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON bff_backoffice.operator_activity TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY worker_claims ON bff_backoffice.ai_decision_deliveries TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.ai_decision_log TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.ai_inbox_entries TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.alert_ack_log TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.alert_budgets TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.alert_mutes TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.alert_notices TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.alert_subscriptions TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.alerts TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.announcements TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.attestations TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.audit TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.audit_heads TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.consumed_events TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.device_keys TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.device_proofs TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.device_sync_status TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.devices TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.exports TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.idempotency_keys TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.lock_action_proxy_audit TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.lock_actions TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.notes TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.offline_action_queue_hints TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.operator_activity TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.operators TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.outbox TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.passkey_challenges TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON bff_backoffice.sessions TO tidings_worker USING (true) WITH CHECK (true);

ALTER TABLE chan.account_secrets ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.adapter_status_map ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.audit_heads ENABLE ROW LEVEL SECURITY;

CREATE POLICY break_glass ON chan.account_secrets FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.adapter_status_map FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.audit FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.audit_heads FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.channel_adapter_configs FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.circuit_counts FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.consumed_events FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.conversation_messages FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.conversations FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.delivery_attempt_events FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.delivery_attempts FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.delivery_inbox FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.delivery_outbox FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.erased_executions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.error_statistics FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.executions_live FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.fallback_executions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.fallback_policies FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.fallback_policy_versions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.inbound_deliveries FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.inbound_messages FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.inbound_unmatched FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.outbox FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.outcome_statistics FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.recipient_profiles FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.shared_number_contacts FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.spend_daily FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.step_statistics FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.tenant_inbound_routes FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.unknown_provider_codes FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.vendor_weights FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.webhook_inbound FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.webhook_inbound_dedup FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON chan.webhook_inbound_events FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY caller_role_deletes ON chan.account_secrets AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.adapter_status_map AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.channel_adapter_configs AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.consumed_events AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.conversation_messages AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.conversations AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.delivery_attempt_events AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.delivery_attempts AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.delivery_inbox AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.delivery_outbox AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.erased_executions AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.error_statistics AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.executions_live AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.fallback_executions AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.fallback_policies AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.fallback_policy_versions AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.inbound_deliveries AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.inbound_messages AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.outbox AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.outcome_statistics AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.recipient_profiles AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.shared_number_contacts AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.spend_daily AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.step_statistics AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.tenant_inbound_routes AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.unknown_provider_codes AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.vendor_weights AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.webhook_inbound AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON chan.webhook_inbound_events AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.account_secrets AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.adapter_status_map AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.channel_adapter_configs AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.consumed_events AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.conversation_messages AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.conversations AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.delivery_attempt_events AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.delivery_attempts AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.delivery_inbox AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.delivery_outbox AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.erased_executions AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.error_statistics AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.executions_live AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.fallback_executions AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.fallback_policies AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.fallback_policy_versions AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.inbound_deliveries AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.inbound_messages AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.outbox AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.outcome_statistics AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.recipient_profiles AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.shared_number_contacts AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.spend_daily AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.step_statistics AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.tenant_inbound_routes AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.unknown_provider_codes AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.vendor_weights AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.webhook_inbound AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON chan.webhook_inbound_events AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

ALTER TABLE chan.channel_adapter_configs ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.circuit_counts ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.consumed_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.conversation_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.conversations ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.delivery_attempt_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.delivery_attempts ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.delivery_inbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.delivery_outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.erased_executions ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.error_statistics ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.executions_live ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.fallback_executions ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.fallback_policies ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.fallback_policy_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.inbound_deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.inbound_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.inbound_unmatched ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.outcome_statistics ENABLE ROW LEVEL SECURITY;

CREATE POLICY owner_seeds ON chan.adapter_status_map TO tidings_owner USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY owner_seeds ON chan.channel_adapter_configs TO tidings_owner USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY owner_seeds ON chan.vendor_weights TO tidings_owner USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON chan.account_secrets TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON chan.adapter_status_map TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON chan.audit TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON chan.audit_heads TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON chan.channel_adapter_configs TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON chan.consumed_events TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON chan.inbound_messages TO tidings_platform USING (((tenant_id IS NULL) OR (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)))) WITH CHECK (((tenant_id IS NULL) OR (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))));

CREATE POLICY platform_access ON chan.inbound_unmatched TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON chan.outbox TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON chan.outcome_statistics TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON chan.unknown_provider_codes TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON chan.vendor_weights TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON chan.webhook_inbound TO tidings_platform USING (((tenant_id IS NULL) OR (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)))) WITH CHECK (((tenant_id IS NULL) OR (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))));

CREATE POLICY platform_access ON chan.webhook_inbound_dedup TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON chan.webhook_inbound_events TO tidings_platform USING (((tenant_id IS NULL) OR (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)))) WITH CHECK (((tenant_id IS NULL) OR (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))));

CREATE POLICY platform_rows_readable ON chan.adapter_status_map FOR SELECT TO tidings_runtime USING ((tenant_id IS NULL));

CREATE POLICY platform_rows_readable ON chan.channel_adapter_configs FOR SELECT TO tidings_runtime USING ((tenant_id IS NULL));

CREATE POLICY platform_rows_readable ON chan.vendor_weights FOR SELECT TO tidings_runtime USING ((tenant_id IS NULL));

ALTER TABLE chan.recipient_profiles ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.shared_number_contacts ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.spend_daily ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.step_statistics ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.tenant_inbound_routes ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON chan.account_secrets TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.adapter_status_map TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.audit TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.audit_heads TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.channel_adapter_configs TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.consumed_events TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.conversation_messages TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.conversations TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.delivery_attempt_events TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.delivery_attempts TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.delivery_inbox TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.delivery_outbox TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.erased_executions TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.error_statistics TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.executions_live TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.fallback_executions TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.fallback_policies TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.fallback_policy_versions TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.inbound_deliveries TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.inbound_messages TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.outbox TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.outcome_statistics TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.recipient_profiles TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.shared_number_contacts TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.spend_daily TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.step_statistics TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.tenant_inbound_routes TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.unknown_provider_codes TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.vendor_weights TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.webhook_inbound TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON chan.webhook_inbound_events TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_sets ON chan.channel_adapter_configs TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.consumed_events TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.conversation_messages TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.conversations TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.delivery_attempt_events TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.delivery_attempts TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.delivery_inbox TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.delivery_outbox TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.executions_live TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.fallback_executions TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.fallback_policies TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.outbox TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.recipient_profiles TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.shared_number_contacts TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON chan.spend_daily TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

ALTER TABLE chan.unknown_provider_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.vendor_weights ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.webhook_inbound ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.webhook_inbound_dedup ENABLE ROW LEVEL SECURITY;

ALTER TABLE chan.webhook_inbound_events ENABLE ROW LEVEL SECURITY;

CREATE POLICY worker_claims ON chan.audit TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.audit_heads TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.channel_adapter_configs TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.circuit_counts TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.consumed_events TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.conversation_messages TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.conversations TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.delivery_attempts TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.delivery_inbox TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.delivery_outbox TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.erased_executions TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.error_statistics TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.executions_live TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.fallback_executions TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.inbound_deliveries TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.inbound_messages TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.inbound_unmatched TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.outbox TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.outcome_statistics TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.shared_number_contacts TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.step_statistics TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.tenant_inbound_routes TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.unknown_provider_codes TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.vendor_weights TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.webhook_inbound TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.webhook_inbound_dedup TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON chan.webhook_inbound_events TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_sweeps_what_is_closed ON chan.conversations AS RESTRICTIVE FOR DELETE TO tidings_worker USING ((status <> 'OPEN'::text));

ALTER TABLE kernel.audit_anchor_lines ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.audit_anchors ENABLE ROW LEVEL SECURITY;

CREATE POLICY break_glass ON kernel.audit_anchor_lines FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.audit_anchors FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.bus_consumers FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.bus_events FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.bus_parked FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.bus_stream FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.data_keys FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.dead_letters FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.event_version_readers FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.event_versions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.exported_months FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.feature_flags FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.hot_leases FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.hot_limits FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.hot_presence FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.hot_seen FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.platform_keys FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.processes FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.roll_up_marks FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.sweep_marks FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.tenant_keys FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON kernel.workers FOR SELECT TO tidings_breakglass USING (true);

ALTER TABLE kernel.bus_consumers ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.bus_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.bus_parked ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.bus_stream ENABLE ROW LEVEL SECURITY;

CREATE POLICY caller_role_deletes ON kernel.audit_anchors AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON kernel.bus_events AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON kernel.bus_parked AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON kernel.data_keys AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON kernel.dead_letters AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON kernel.exported_months AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON kernel.feature_flags AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON kernel.hot_presence AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON kernel.tenant_keys AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON kernel.audit_anchors AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON kernel.bus_events AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON kernel.bus_parked AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON kernel.data_keys AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON kernel.dead_letters AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON kernel.exported_months AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON kernel.feature_flags AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON kernel.hot_presence AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON kernel.tenant_keys AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

ALTER TABLE kernel.data_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.dead_letters ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.event_version_readers ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.event_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.exported_months ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.feature_flags ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.hot_leases ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.hot_limits ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.hot_presence ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.hot_seen ENABLE ROW LEVEL SECURITY;

CREATE POLICY owner_seeds ON kernel.audit_anchors TO tidings_owner USING (true) WITH CHECK (true);

CREATE POLICY owner_seeds ON kernel.bus_stream TO tidings_owner USING (true) WITH CHECK (true);

CREATE POLICY owner_seeds ON kernel.exported_months TO tidings_owner USING (true) WITH CHECK (true);

CREATE POLICY owner_seeds ON kernel.feature_flags TO tidings_owner USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON kernel.audit_anchor_lines TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON kernel.audit_anchors TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON kernel.event_version_readers TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON kernel.exported_months TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON kernel.feature_flags TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON kernel.hot_leases TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON kernel.hot_limits TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON kernel.hot_presence TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON kernel.hot_seen TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON kernel.platform_keys TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON kernel.tenant_keys TO tidings_platform USING (true) WITH CHECK (true);

ALTER TABLE kernel.platform_keys ENABLE ROW LEVEL SECURITY;

CREATE POLICY platform_rows_readable ON kernel.audit_anchors FOR SELECT TO tidings_runtime USING (true);

CREATE POLICY platform_rows_readable ON kernel.exported_months FOR SELECT TO tidings_runtime USING (true);

CREATE POLICY platform_rows_readable ON kernel.feature_flags FOR SELECT TO tidings_runtime USING ((tenant_id IS NULL));

ALTER TABLE kernel.processes ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.roll_up_marks ENABLE ROW LEVEL SECURITY;

ALTER TABLE kernel.sweep_marks ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON kernel.audit_anchor_lines TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON kernel.bus_events TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON kernel.bus_parked TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON kernel.data_keys TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON kernel.dead_letters TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON kernel.feature_flags TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON kernel.hot_leases TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON kernel.hot_limits TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON kernel.hot_presence TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON kernel.hot_seen TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON kernel.tenant_keys TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

ALTER TABLE kernel.tenant_keys ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_sets ON kernel.data_keys TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON kernel.hot_limits TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON kernel.hot_presence TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON kernel.tenant_keys TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY worker_claims ON kernel.audit_anchor_lines TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.bus_consumers TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.bus_events TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.bus_parked TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.bus_stream TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.dead_letters TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.event_version_readers TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.event_versions TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.exported_months TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.feature_flags TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.hot_leases TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.hot_limits TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.hot_presence TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.hot_seen TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.processes TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.roll_up_marks TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.sweep_marks TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON kernel.workers TO tidings_worker USING (true) WITH CHECK (true);

ALTER TABLE kernel.workers ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.address_refusals ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.api_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.audit_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.batch_counts ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.batch_list ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.batch_people ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.branding ENABLE ROW LEVEL SECURITY;

CREATE POLICY break_glass ON notification.address_refusals FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.api_keys FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.audit FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.audit_heads FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.batch_counts FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.batch_list FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.batch_people FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.branding FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.categories FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.channel_credentials FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.channels FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.consent_events FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.consumed_events FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.counters FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.dedup_ledger FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.delivery_attempts FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.digest_windows FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.dispatch_batches FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.dispatch_queue FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.dispatch_requests FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.early_bounces FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.erasures FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.event_readers FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.idempotency_keys FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.import_problems FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.import_seen FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.imports FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.inbox_items FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.inboxes FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.layouts FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.notification_preferences FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.notification_scheduled FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.notification_trigger_map FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.notifications FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.opt_out_tokens FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.outbox FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.received_event_ledger FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.received_events FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.recipient_addresses FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.recipients FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.searchable_metadata FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.soft_bounces FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.suppression_counts FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.suppressions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.template_assets FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.template_versions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.templates FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.tenants_local FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.trigger_choices FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.trigger_firings FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.trigger_subjects FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.trigger_versions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.webhook_call_counts FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.webhook_deliveries FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.webhook_endpoints FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.webhook_portal_links FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification.webhook_subscriptions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY caller_role_deletes ON notification.address_refusals AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.api_keys AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.batch_counts AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.batch_list AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.batch_people AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.branding AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.categories AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.channel_credentials AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.channels AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.consent_events AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.consumed_events AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.counters AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.dedup_ledger AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.delivery_attempts AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.digest_windows AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.dispatch_batches AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.dispatch_queue AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.dispatch_requests AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.early_bounces AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.erasures AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.event_readers AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.idempotency_keys AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.import_problems AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.import_seen AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.imports AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.inbox_items AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.inboxes AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.layouts AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.notification_preferences AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.notification_scheduled AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.notification_trigger_map AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.notifications AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.opt_out_tokens AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.outbox AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.received_event_ledger AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.received_events AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.recipient_addresses AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.recipients AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.searchable_metadata AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.soft_bounces AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.suppression_counts AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.suppressions AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.template_assets AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.template_versions AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.templates AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.tenants_local AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.trigger_choices AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.trigger_firings AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.trigger_subjects AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.trigger_versions AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.webhook_call_counts AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.webhook_deliveries AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.webhook_endpoints AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.webhook_portal_links AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification.webhook_subscriptions AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.address_refusals AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.api_keys AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.batch_counts AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.batch_list AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.batch_people AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.branding AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.categories AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.channel_credentials AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.channels AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.consent_events AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.consumed_events AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.counters AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.dedup_ledger AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.delivery_attempts AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.digest_windows AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.dispatch_batches AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.dispatch_queue AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.dispatch_requests AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.early_bounces AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.erasures AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.event_readers AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.idempotency_keys AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.import_problems AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.import_seen AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.imports AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.inbox_items AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.inboxes AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.layouts AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.notification_preferences AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.notification_scheduled AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.notification_trigger_map AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.notifications AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.opt_out_tokens AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.outbox AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.received_event_ledger AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.received_events AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.recipient_addresses AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.recipients AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.searchable_metadata AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.soft_bounces AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.suppression_counts AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.suppressions AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.template_assets AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.template_versions AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.templates AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.tenants_local AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.trigger_choices AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.trigger_firings AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.trigger_subjects AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.trigger_versions AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.webhook_call_counts AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.webhook_deliveries AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.webhook_endpoints AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.webhook_portal_links AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification.webhook_subscriptions AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

ALTER TABLE notification.categories ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.channel_credentials ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.channels ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.consent_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.consumed_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.counters ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.dedup_ledger ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.delivery_attempts ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.digest_windows ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.dispatch_batches ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.dispatch_queue ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.dispatch_requests ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.early_bounces ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.erasures ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.event_readers ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.idempotency_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.import_problems ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.import_seen ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.imports ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.inbox_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.inboxes ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.layouts ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.notification_preferences ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.notification_scheduled ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.notification_trigger_map ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.notifications ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.notifications_marketing ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.notifications_regulated ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.notifications_standard ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.opt_out_tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.outbox ENABLE ROW LEVEL SECURITY;

CREATE POLICY owner_seeds ON notification.notification_trigger_map TO tidings_owner USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY owner_seeds ON notification.trigger_versions TO tidings_owner USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON notification.api_keys TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification.audit TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON notification.audit_heads TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON notification.channel_credentials TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification.channels TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification.consumed_events TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification.idempotency_keys TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON notification.notification_trigger_map TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_access ON notification.outbox TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification.received_event_ledger TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification.tenants_local TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification.trigger_versions TO tidings_platform USING ((tenant_id IS NULL)) WITH CHECK ((tenant_id IS NULL));

CREATE POLICY platform_rows_readable ON notification.notification_trigger_map FOR SELECT TO tidings_runtime USING ((tenant_id IS NULL));

CREATE POLICY platform_rows_readable ON notification.trigger_versions FOR SELECT TO tidings_runtime USING ((tenant_id IS NULL));

ALTER TABLE notification.received_event_ledger ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.received_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.recipient_addresses ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.recipients ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.searchable_metadata ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.soft_bounces ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.suppression_counts ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.suppressions ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.template_assets ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.template_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.templates ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON notification.address_refusals TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.api_keys TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.audit TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.audit_heads TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.batch_counts TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.batch_list TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.batch_people TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.branding TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.categories TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.channel_credentials TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.channels TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.consent_events TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.consumed_events TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.counters TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.dedup_ledger TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.delivery_attempts TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.digest_windows TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.dispatch_batches TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.dispatch_queue TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.dispatch_requests TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.early_bounces TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.erasures TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.event_readers TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.idempotency_keys TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.import_problems TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.import_seen TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.imports TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.inbox_items TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.inboxes TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.layouts TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.notification_preferences TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.notification_scheduled TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.notification_trigger_map TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.notifications TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.opt_out_tokens TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.outbox TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.received_event_ledger TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.received_events TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.recipient_addresses TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.recipients TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.searchable_metadata TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.soft_bounces TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.suppression_counts TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.suppressions TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.template_assets TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.template_versions TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.templates TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.tenants_local TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.trigger_choices TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.trigger_firings TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.trigger_subjects TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.trigger_versions TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.webhook_call_counts TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.webhook_deliveries TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.webhook_endpoints TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.webhook_portal_links TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_isolation ON notification.webhook_subscriptions TO tidings_runtime USING ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)));

CREATE POLICY tenant_sets ON notification.address_refusals TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.audit TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.audit_heads TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.batch_counts TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.batch_people TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.branding TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.categories TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.channels TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.consumed_events TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.counters TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.dedup_ledger TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.delivery_attempts TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.digest_windows TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.dispatch_batches TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.dispatch_queue TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.dispatch_requests TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.early_bounces TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.idempotency_keys TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.inbox_items TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.inboxes TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.notification_preferences TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.notification_scheduled TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.notification_trigger_map TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.notifications TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.opt_out_tokens TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.outbox TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.received_event_ledger TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.received_events TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.recipient_addresses TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.recipients TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.searchable_metadata TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.soft_bounces TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.suppression_counts TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.suppressions TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.template_versions TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.templates TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.tenants_local TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.trigger_choices TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.trigger_firings TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.trigger_subjects TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.webhook_call_counts TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.webhook_deliveries TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.webhook_endpoints TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

CREATE POLICY tenant_sets ON notification.webhook_subscriptions TO tidings_runtime USING ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id)) WITH CHECK ((( SELECT jsonb_object(named.named, named.named) AS jsonb_object
   FROM string_to_array(NULLIF(current_setting('app.tenant_ids'::text, true), ''::text), ','::text) named(named)) ? tenant_id));

ALTER TABLE notification.tenants_local ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.trigger_choices ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.trigger_firings ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.trigger_subjects ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.trigger_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.webhook_call_counts ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.webhook_deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.webhook_endpoints ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.webhook_portal_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification.webhook_subscriptions ENABLE ROW LEVEL SECURITY;

CREATE POLICY worker_claims ON notification.api_keys TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.audit TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.audit_heads TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.batch_list TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.batch_people TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.channel_credentials TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.consumed_events TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.counters TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.dedup_ledger TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.digest_windows TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.dispatch_batches TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.dispatch_queue TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.dispatch_requests TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.early_bounces TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.event_readers TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.idempotency_keys TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.import_problems TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.import_seen TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.imports TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.inbox_items TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.notification_scheduled TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.opt_out_tokens TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.outbox TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.received_event_ledger TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.soft_bounces TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.suppression_counts TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.suppressions TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.tenants_local TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.trigger_firings TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.trigger_subjects TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.webhook_call_counts TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.webhook_endpoints TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.webhook_portal_links TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_claims ON notification.webhook_subscriptions TO tidings_worker USING (true) WITH CHECK (true);

CREATE POLICY worker_sweeps_what_is_done ON notification.digest_windows AS RESTRICTIVE FOR DELETE TO tidings_worker USING ((state = 'flushed'::text));

CREATE POLICY worker_sweeps_what_is_done ON notification.notification_scheduled AS RESTRICTIVE FOR DELETE TO tidings_worker USING (((processed_at IS NOT NULL) OR obsolete));

CREATE POLICY break_glass ON notification_platform.categories FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification_platform.event_subscription_progress FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification_platform.event_subscription_refusals FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification_platform.event_subscriptions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification_platform.suppressions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification_platform.template_assets FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification_platform.template_versions FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY break_glass ON notification_platform.templates FOR SELECT TO tidings_breakglass USING (true);

CREATE POLICY caller_role_deletes ON notification_platform.categories AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification_platform.event_subscriptions AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification_platform.suppressions AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification_platform.template_assets AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification_platform.template_versions AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_deletes ON notification_platform.templates AS RESTRICTIVE FOR DELETE TO tidings_platform, tidings_runtime USING ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification_platform.categories AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification_platform.event_subscriptions AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification_platform.suppressions AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification_platform.template_assets AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification_platform.template_versions AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

CREATE POLICY caller_role_writes ON notification_platform.templates AS RESTRICTIVE TO tidings_platform, tidings_runtime USING (true) WITH CHECK ((COALESCE(current_setting('app.caller_role'::text, true), ''::text) <> ALL (ARRAY['tenant.viewer'::text, 'platform.support'::text])));

ALTER TABLE notification_platform.categories ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification_platform.event_subscription_progress ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification_platform.event_subscription_refusals ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification_platform.event_subscriptions ENABLE ROW LEVEL SECURITY;

CREATE POLICY owner_seeds ON notification_platform.categories TO tidings_owner USING (true) WITH CHECK (true);

CREATE POLICY owner_seeds ON notification_platform.suppressions TO tidings_owner USING (true) WITH CHECK (true);

CREATE POLICY owner_seeds ON notification_platform.template_assets TO tidings_owner USING (true) WITH CHECK (true);

CREATE POLICY owner_seeds ON notification_platform.template_versions TO tidings_owner USING (true) WITH CHECK (true);

CREATE POLICY owner_seeds ON notification_platform.templates TO tidings_owner USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification_platform.categories TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification_platform.event_subscription_progress TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification_platform.event_subscription_refusals TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification_platform.event_subscriptions TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification_platform.suppressions TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification_platform.template_assets TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification_platform.template_versions TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_access ON notification_platform.templates TO tidings_platform USING (true) WITH CHECK (true);

CREATE POLICY platform_rows_readable ON notification_platform.categories FOR SELECT TO tidings_runtime USING (true);

CREATE POLICY platform_rows_readable ON notification_platform.suppressions FOR SELECT TO tidings_runtime USING (true);

CREATE POLICY platform_rows_readable ON notification_platform.template_assets FOR SELECT TO tidings_runtime USING (true);

CREATE POLICY platform_rows_readable ON notification_platform.template_versions FOR SELECT TO tidings_runtime USING (true);

CREATE POLICY platform_rows_readable ON notification_platform.templates FOR SELECT TO tidings_runtime USING (true);

ALTER TABLE notification_platform.suppressions ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification_platform.template_assets ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification_platform.template_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification_platform.templates ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA bff_backoffice TO tidings_runtime;

GRANT USAGE ON SCHEMA bff_backoffice TO tidings_worker;

GRANT USAGE ON SCHEMA bff_backoffice TO tidings_platform;

GRANT USAGE ON SCHEMA bff_backoffice TO tidings_breakglass;

GRANT USAGE ON SCHEMA chan TO tidings_runtime;

GRANT USAGE ON SCHEMA chan TO tidings_worker;

GRANT USAGE ON SCHEMA chan TO tidings_platform;

GRANT USAGE ON SCHEMA chan TO tidings_breakglass;

GRANT USAGE ON SCHEMA kernel TO tidings_runtime;

GRANT USAGE ON SCHEMA kernel TO tidings_breakglass;

GRANT USAGE ON SCHEMA kernel TO tidings_worker;

GRANT USAGE ON SCHEMA kernel TO tidings_platform;

GRANT USAGE ON SCHEMA notification TO tidings_runtime;

GRANT USAGE ON SCHEMA notification TO tidings_worker;

GRANT USAGE ON SCHEMA notification TO tidings_platform;

GRANT USAGE ON SCHEMA notification TO tidings_breakglass;

GRANT USAGE ON SCHEMA notification_platform TO tidings_runtime;

GRANT USAGE ON SCHEMA notification_platform TO tidings_worker;

GRANT USAGE ON SCHEMA notification_platform TO tidings_platform;

GRANT USAGE ON SCHEMA notification_platform TO tidings_breakglass;

REVOKE ALL ON FUNCTION bff_backoffice.forget_alert_subscription() FROM PUBLIC;

REVOKE ALL ON FUNCTION bff_backoffice.number_announcement() FROM PUBLIC;

REVOKE ALL ON FUNCTION kernel.announce_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION kernel.announce_outbox() FROM PUBLIC;

REVOKE ALL ON FUNCTION kernel.announce_queue() FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.assert_protected() FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.make_append_only(IN tbl text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.narrow_by_caller_role(IN tbl text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.open_to_platform(IN tbl text, IN verbs text, IN only_platform_rows boolean) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.open_to_sets(IN tbl text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.open_to_worker(IN tbl text, IN verbs text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.protect_platform_table(IN tbl text, IN platform_verbs text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.protect_service_table(IN tbl text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.protect_shared_table(IN tbl text, IN tenant_verbs text, IN platform_verbs text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.protect_tenant_table(IN tbl text, IN verbs text, IN any_role_writes boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION kernel.refuse_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION kernel.schema_migrations_log_is_append_only() FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.seal_partition(IN tbl text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.set_grants(IN tbl regclass, IN grantee name, IN verbs text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.set_policy(IN tbl regclass, IN policy text, IN definition text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.store_as_ledger(IN tbl text) FROM PUBLIC;

REVOKE ALL ON PROCEDURE kernel.store_as_queue(IN tbl text) FROM PUBLIC;

REVOKE ALL ON FUNCTION notification.count_suppressions() FROM PUBLIC;

REVOKE ALL ON FUNCTION notification.keep_consent_event() FROM PUBLIC;

REVOKE ALL ON FUNCTION notification.refuse_published_asset() FROM PUBLIC;

REVOKE ALL ON FUNCTION notification.refuse_unknown_category() FROM PUBLIC;

REVOKE ALL ON FUNCTION notification_platform.refuse_published_asset() FROM PUBLIC;

GRANT SELECT ON TABLE bff_backoffice.ai_decision_deliveries TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bff_backoffice.ai_decision_deliveries TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.ai_decision_deliveries TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.ai_decision_deliveries TO tidings_worker;

GRANT SELECT(status) ON TABLE bff_backoffice.ai_decision_deliveries TO tidings_worker;

GRANT SELECT(due_at) ON TABLE bff_backoffice.ai_decision_deliveries TO tidings_worker;

GRANT SELECT(claimed_by),UPDATE(claimed_by) ON TABLE bff_backoffice.ai_decision_deliveries TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.ai_decision_keys TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.ai_decision_keys TO tidings_runtime;

GRANT SELECT ON TABLE bff_backoffice.ai_decision_log TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.ai_decision_log TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.ai_decision_log TO tidings_worker;

GRANT SELECT(decided_at) ON TABLE bff_backoffice.ai_decision_log TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.ai_inbox_entries TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.ai_inbox_entries TO tidings_runtime;

GRANT DELETE ON TABLE bff_backoffice.ai_inbox_entries TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.ai_inbox_entries TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.ai_inbox_entries TO tidings_worker;

GRANT SELECT(status),UPDATE(status) ON TABLE bff_backoffice.ai_inbox_entries TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE bff_backoffice.ai_inbox_entries TO tidings_worker;

GRANT SELECT(closed_at),UPDATE(closed_at) ON TABLE bff_backoffice.ai_inbox_entries TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.ai_inbox_places TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.ai_inbox_places TO tidings_runtime;

GRANT SELECT ON TABLE bff_backoffice.alert_ack_log TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.alert_ack_log TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE bff_backoffice.alert_ack_log TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.alert_ack_log TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.alert_ack_log TO tidings_worker;

GRANT SELECT(alert_id) ON TABLE bff_backoffice.alert_ack_log TO tidings_worker;

GRANT SELECT(acknowledged_by) ON TABLE bff_backoffice.alert_ack_log TO tidings_worker;

GRANT UPDATE(acknowledged_at) ON TABLE bff_backoffice.alert_ack_log TO tidings_runtime;

GRANT UPDATE(acknowledged_at) ON TABLE bff_backoffice.alert_ack_log TO tidings_platform;

GRANT SELECT(acknowledged_at) ON TABLE bff_backoffice.alert_ack_log TO tidings_worker;

GRANT UPDATE(device_id) ON TABLE bff_backoffice.alert_ack_log TO tidings_runtime;

GRANT UPDATE(device_id) ON TABLE bff_backoffice.alert_ack_log TO tidings_platform;

GRANT UPDATE(note_id) ON TABLE bff_backoffice.alert_ack_log TO tidings_runtime;

GRANT UPDATE(note_id) ON TABLE bff_backoffice.alert_ack_log TO tidings_platform;

GRANT UPDATE(withdrawn_at) ON TABLE bff_backoffice.alert_ack_log TO tidings_runtime;

GRANT UPDATE(withdrawn_at) ON TABLE bff_backoffice.alert_ack_log TO tidings_platform;

GRANT SELECT(withdrawn_at) ON TABLE bff_backoffice.alert_ack_log TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.alert_budgets TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bff_backoffice.alert_budgets TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.alert_budgets TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.alert_mutes TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bff_backoffice.alert_mutes TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bff_backoffice.alert_mutes TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.alert_mutes TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.alert_mutes TO tidings_worker;

GRANT SELECT(category) ON TABLE bff_backoffice.alert_mutes TO tidings_worker;

GRANT SELECT(muted_until) ON TABLE bff_backoffice.alert_mutes TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.alert_notices TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.alert_notices TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.alert_notices TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.alert_notices TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.alert_notices TO tidings_worker;

GRANT SELECT(operator_id) ON TABLE bff_backoffice.alert_notices TO tidings_worker;

GRANT SELECT(dedup_key) ON TABLE bff_backoffice.alert_notices TO tidings_worker;

GRANT SELECT(told_at) ON TABLE bff_backoffice.alert_notices TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.alert_subscriptions TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bff_backoffice.alert_subscriptions TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bff_backoffice.alert_subscriptions TO tidings_platform;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.alert_subscriptions TO tidings_worker;

GRANT SELECT(operator_id) ON TABLE bff_backoffice.alert_subscriptions TO tidings_worker;

GRANT SELECT(severity) ON TABLE bff_backoffice.alert_subscriptions TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.alerts TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.alerts TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.alerts TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT(dedup_key) ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT(category) ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT(severity) ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT(source) ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT(status) ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT(raised_at) ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT(last_seen_at) ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT(resolved_at) ON TABLE bff_backoffice.alerts TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.announcement_heads TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.announcement_heads TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.announcement_heads TO tidings_platform;

GRANT SELECT ON TABLE bff_backoffice.announcements TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.announcements TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE bff_backoffice.announcements TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.announcements TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.announcements TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.announcements TO tidings_worker;

GRANT UPDATE(number) ON TABLE bff_backoffice.announcements TO tidings_runtime;

GRANT UPDATE(number) ON TABLE bff_backoffice.announcements TO tidings_platform;

GRANT SELECT(told_at) ON TABLE bff_backoffice.announcements TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.attestations TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.attestations TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE bff_backoffice.attestations TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.attestations TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.attestations TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.attestations TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE bff_backoffice.attestations TO tidings_worker;

GRANT UPDATE(used_at) ON TABLE bff_backoffice.attestations TO tidings_runtime;

GRANT UPDATE(used_at) ON TABLE bff_backoffice.attestations TO tidings_platform;

GRANT SELECT ON TABLE bff_backoffice.audit TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.audit TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE bff_backoffice.audit TO tidings_platform;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.audit TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.audit_heads TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.audit_heads TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.audit_heads TO tidings_platform;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.audit_heads TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.consumed_events TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.consumed_events TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE bff_backoffice.consumed_events TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.consumed_events TO tidings_worker;

GRANT SELECT(consumer_name) ON TABLE bff_backoffice.consumed_events TO tidings_worker;

GRANT SELECT(event_id) ON TABLE bff_backoffice.consumed_events TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.consumed_events TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE bff_backoffice.consumed_events TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.device_keys TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.device_keys TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE bff_backoffice.device_keys TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.device_keys TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.device_keys TO tidings_worker;

GRANT SELECT(session_id) ON TABLE bff_backoffice.device_keys TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE bff_backoffice.device_keys TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.device_proofs TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.device_proofs TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE bff_backoffice.device_proofs TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.device_proofs TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.device_proofs TO tidings_worker;

GRANT SELECT(session_id) ON TABLE bff_backoffice.device_proofs TO tidings_worker;

GRANT SELECT(jti) ON TABLE bff_backoffice.device_proofs TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE bff_backoffice.device_proofs TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.device_sync_status TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.device_sync_status TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.device_sync_status TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.device_sync_status TO tidings_worker;

GRANT SELECT(device_id) ON TABLE bff_backoffice.device_sync_status TO tidings_worker;

GRANT SELECT(last_heartbeat_at) ON TABLE bff_backoffice.device_sync_status TO tidings_worker;

GRANT SELECT(status) ON TABLE bff_backoffice.device_sync_status TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.devices TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.devices TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.devices TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.devices TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.devices TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.devices TO tidings_worker;

GRANT SELECT(last_used_at) ON TABLE bff_backoffice.devices TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.exports TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.exports TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE bff_backoffice.exports TO tidings_platform;

GRANT SELECT ON TABLE bff_backoffice.exports TO tidings_worker;

GRANT UPDATE(object_key) ON TABLE bff_backoffice.exports TO tidings_runtime;

GRANT UPDATE(object_key) ON TABLE bff_backoffice.exports TO tidings_platform;

GRANT UPDATE(rows) ON TABLE bff_backoffice.exports TO tidings_runtime;

GRANT UPDATE(rows) ON TABLE bff_backoffice.exports TO tidings_platform;

GRANT UPDATE(bytes) ON TABLE bff_backoffice.exports TO tidings_runtime;

GRANT UPDATE(bytes) ON TABLE bff_backoffice.exports TO tidings_platform;

GRANT UPDATE(checksum) ON TABLE bff_backoffice.exports TO tidings_runtime;

GRANT UPDATE(checksum) ON TABLE bff_backoffice.exports TO tidings_platform;

GRANT UPDATE(verified_at) ON TABLE bff_backoffice.exports TO tidings_runtime;

GRANT UPDATE(verified_at) ON TABLE bff_backoffice.exports TO tidings_platform;

GRANT SELECT ON TABLE bff_backoffice.idempotency_keys TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.idempotency_keys TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.idempotency_keys TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.idempotency_keys TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.idempotency_keys TO tidings_worker;

GRANT SELECT(scope) ON TABLE bff_backoffice.idempotency_keys TO tidings_worker;

GRANT SELECT(key) ON TABLE bff_backoffice.idempotency_keys TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE bff_backoffice.idempotency_keys TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.lock_action_proxy_audit TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.lock_action_proxy_audit TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.lock_action_proxy_audit TO tidings_worker;

GRANT SELECT(occurred_at) ON TABLE bff_backoffice.lock_action_proxy_audit TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.lock_actions TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bff_backoffice.lock_actions TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.lock_actions TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.lock_actions TO tidings_worker;

GRANT SELECT(due_at) ON TABLE bff_backoffice.lock_actions TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.notes TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.notes TO tidings_runtime;

GRANT DELETE ON TABLE bff_backoffice.notes TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.notes TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.notes TO tidings_worker;

GRANT SELECT(kept_until) ON TABLE bff_backoffice.notes TO tidings_worker;

GRANT UPDATE(text_ciphertext) ON TABLE bff_backoffice.notes TO tidings_runtime;

GRANT UPDATE(redacted_at) ON TABLE bff_backoffice.notes TO tidings_runtime;

GRANT UPDATE(redacted_by) ON TABLE bff_backoffice.notes TO tidings_runtime;

GRANT SELECT ON TABLE bff_backoffice.offline_action_queue_hints TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.offline_action_queue_hints TO tidings_runtime;

GRANT DELETE ON TABLE bff_backoffice.offline_action_queue_hints TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.offline_action_queue_hints TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.offline_action_queue_hints TO tidings_worker;

GRANT SELECT(reported_at) ON TABLE bff_backoffice.offline_action_queue_hints TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.operator_activity TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE bff_backoffice.operator_activity TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE bff_backoffice.operator_activity TO tidings_platform;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.operator_activity TO tidings_worker;

GRANT SELECT(occurred_at) ON TABLE bff_backoffice.operator_activity TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.operator_preferences TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bff_backoffice.operator_preferences TO tidings_runtime;

GRANT SELECT ON TABLE bff_backoffice.operators TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.operators TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.operators TO tidings_platform;

GRANT SELECT(id) ON TABLE bff_backoffice.operators TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.operators TO tidings_worker;

GRANT UPDATE(link_hash) ON TABLE bff_backoffice.operators TO tidings_worker;

GRANT UPDATE(link_kind) ON TABLE bff_backoffice.operators TO tidings_worker;

GRANT SELECT(link_expires_at),UPDATE(link_expires_at) ON TABLE bff_backoffice.operators TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.outbox TO tidings_breakglass;

GRANT INSERT ON TABLE bff_backoffice.outbox TO tidings_runtime;

GRANT INSERT ON TABLE bff_backoffice.outbox TO tidings_platform;

GRANT SELECT,DELETE ON TABLE bff_backoffice.outbox TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.passkey_challenges TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE ON TABLE bff_backoffice.passkey_challenges TO tidings_runtime;

GRANT SELECT,INSERT,DELETE ON TABLE bff_backoffice.passkey_challenges TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.passkey_challenges TO tidings_worker;

GRANT SELECT(challenge_hash) ON TABLE bff_backoffice.passkey_challenges TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.passkey_challenges TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE bff_backoffice.passkey_challenges TO tidings_worker;

GRANT SELECT ON TABLE bff_backoffice.passkeys TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE ON TABLE bff_backoffice.passkeys TO tidings_runtime;

GRANT SELECT,INSERT,DELETE ON TABLE bff_backoffice.passkeys TO tidings_platform;

GRANT UPDATE(sign_count) ON TABLE bff_backoffice.passkeys TO tidings_runtime;

GRANT UPDATE(sign_count) ON TABLE bff_backoffice.passkeys TO tidings_platform;

GRANT UPDATE(last_used_at) ON TABLE bff_backoffice.passkeys TO tidings_runtime;

GRANT UPDATE(last_used_at) ON TABLE bff_backoffice.passkeys TO tidings_platform;

GRANT SELECT ON TABLE bff_backoffice.sessions TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.sessions TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE bff_backoffice.sessions TO tidings_platform;

GRANT DELETE ON TABLE bff_backoffice.sessions TO tidings_worker;

GRANT SELECT(id) ON TABLE bff_backoffice.sessions TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE bff_backoffice.sessions TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE bff_backoffice.sessions TO tidings_worker;

GRANT SELECT ON TABLE chan.account_secrets TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.account_secrets TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.account_secrets TO tidings_platform;

GRANT SELECT ON TABLE chan.adapter_status_map TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.adapter_status_map TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.adapter_status_map TO tidings_platform;

GRANT SELECT ON TABLE chan.audit TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE chan.audit TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE chan.audit TO tidings_platform;

GRANT SELECT(tenant_id) ON TABLE chan.audit TO tidings_worker;

GRANT SELECT ON TABLE chan.audit_heads TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.audit_heads TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.audit_heads TO tidings_platform;

GRANT SELECT(tenant_id) ON TABLE chan.audit_heads TO tidings_worker;

GRANT SELECT ON TABLE chan.channel_adapter_configs TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.channel_adapter_configs TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.channel_adapter_configs TO tidings_platform;

GRANT SELECT(id) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(provider) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(circuit_state) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(circuit_opened_at) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(active) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(circuit_version) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(circuit_changed_at) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(circuit_until) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(circuit_openings) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(circuit_prober) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(circuit_reason) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(circuit_held) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT(circuit_held_until) ON TABLE chan.channel_adapter_configs TO tidings_worker;

GRANT SELECT ON TABLE chan.circuit_counts TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.circuit_counts TO tidings_worker;

GRANT SELECT ON TABLE chan.consumed_events TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE chan.consumed_events TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE chan.consumed_events TO tidings_platform;

GRANT DELETE ON TABLE chan.consumed_events TO tidings_worker;

GRANT SELECT(consumer_name) ON TABLE chan.consumed_events TO tidings_worker;

GRANT SELECT(event_id) ON TABLE chan.consumed_events TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE chan.consumed_events TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE chan.consumed_events TO tidings_worker;

GRANT SELECT ON TABLE chan.conversation_messages TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.conversation_messages TO tidings_runtime;

GRANT DELETE ON TABLE chan.conversation_messages TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE chan.conversation_messages TO tidings_worker;

GRANT SELECT(id) ON TABLE chan.conversation_messages TO tidings_worker;

GRANT SELECT(conversation_id) ON TABLE chan.conversation_messages TO tidings_worker;

GRANT SELECT(next_attempt_at) ON TABLE chan.conversation_messages TO tidings_worker;

GRANT SELECT(updated_at),UPDATE(updated_at) ON TABLE chan.conversation_messages TO tidings_worker;

GRANT SELECT(status),UPDATE(status) ON TABLE chan.conversation_messages TO tidings_worker;

GRANT SELECT(reason),UPDATE(reason) ON TABLE chan.conversation_messages TO tidings_worker;

GRANT SELECT(claimed_by),UPDATE(claimed_by) ON TABLE chan.conversation_messages TO tidings_worker;

GRANT SELECT ON TABLE chan.conversations TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.conversations TO tidings_runtime;

GRANT DELETE ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(id) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(sender_id) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(channel) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(status) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(opened_at) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(last_seen_at) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(closed_at) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(platform_hash) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT(account_id) ON TABLE chan.conversations TO tidings_worker;

GRANT SELECT ON TABLE chan.delivery_attempt_events TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE chan.delivery_attempt_events TO tidings_runtime;

GRANT SELECT ON TABLE chan.delivery_attempts TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE chan.delivery_attempts TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE chan.delivery_attempts TO tidings_worker;

GRANT SELECT(id) ON TABLE chan.delivery_attempts TO tidings_worker;

GRANT SELECT(started_at) ON TABLE chan.delivery_attempts TO tidings_worker;

GRANT SELECT(step_index) ON TABLE chan.delivery_attempts TO tidings_worker;

GRANT SELECT(execution_id) ON TABLE chan.delivery_attempts TO tidings_worker;

GRANT SELECT(channel) ON TABLE chan.delivery_attempts TO tidings_worker;

GRANT SELECT(adapter_config_id) ON TABLE chan.delivery_attempts TO tidings_worker;

GRANT SELECT(provider) ON TABLE chan.delivery_attempts TO tidings_worker;

GRANT SELECT(provider_message_id) ON TABLE chan.delivery_attempts TO tidings_worker;

GRANT SELECT ON TABLE chan.delivery_inbox TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE chan.delivery_inbox TO tidings_runtime;

GRANT SELECT,DELETE ON TABLE chan.delivery_inbox TO tidings_worker;

GRANT SELECT ON TABLE chan.delivery_outbox TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE chan.delivery_outbox TO tidings_runtime;

GRANT SELECT,DELETE ON TABLE chan.delivery_outbox TO tidings_worker;

GRANT SELECT ON TABLE chan.erased_executions TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE chan.erased_executions TO tidings_runtime;

GRANT DELETE ON TABLE chan.erased_executions TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE chan.erased_executions TO tidings_worker;

GRANT SELECT(execution_id) ON TABLE chan.erased_executions TO tidings_worker;

GRANT SELECT(erased_at) ON TABLE chan.erased_executions TO tidings_worker;

GRANT SELECT(pending),UPDATE(pending) ON TABLE chan.erased_executions TO tidings_worker;

GRANT SELECT ON TABLE chan.error_statistics TO tidings_breakglass;

GRANT SELECT ON TABLE chan.error_statistics TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.error_statistics TO tidings_worker;

GRANT SELECT ON TABLE chan.executions_live TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.executions_live TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE chan.executions_live TO tidings_worker;

GRANT SELECT(id) ON TABLE chan.executions_live TO tidings_worker;

GRANT SELECT(updated_at) ON TABLE chan.executions_live TO tidings_worker;

GRANT SELECT(due_at),UPDATE(due_at) ON TABLE chan.executions_live TO tidings_worker;

GRANT SELECT(priority) ON TABLE chan.executions_live TO tidings_worker;

GRANT SELECT(claimed_by),UPDATE(claimed_by) ON TABLE chan.executions_live TO tidings_worker;

GRANT SELECT(waits_for) ON TABLE chan.executions_live TO tidings_worker;

GRANT SELECT ON TABLE chan.fallback_executions TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE chan.fallback_executions TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE chan.fallback_executions TO tidings_worker;

GRANT SELECT(id) ON TABLE chan.fallback_executions TO tidings_worker;

GRANT SELECT(started_at) ON TABLE chan.fallback_executions TO tidings_worker;

GRANT SELECT(terminated_at) ON TABLE chan.fallback_executions TO tidings_worker;

GRANT SELECT(use_case) ON TABLE chan.fallback_executions TO tidings_worker;

GRANT SELECT(final_channel) ON TABLE chan.fallback_executions TO tidings_worker;

GRANT SELECT(outcome) ON TABLE chan.fallback_executions TO tidings_worker;

GRANT SELECT(fallback_path) ON TABLE chan.fallback_executions TO tidings_worker;

GRANT SELECT(recorded_in) ON TABLE chan.fallback_executions TO tidings_worker;

GRANT SELECT ON TABLE chan.fallback_policies TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.fallback_policies TO tidings_runtime;

GRANT SELECT ON TABLE chan.fallback_policy_versions TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE chan.fallback_policy_versions TO tidings_runtime;

GRANT SELECT ON TABLE chan.inbound_deliveries TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.inbound_deliveries TO tidings_runtime;

GRANT DELETE ON TABLE chan.inbound_deliveries TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE chan.inbound_deliveries TO tidings_worker;

GRANT SELECT(id) ON TABLE chan.inbound_deliveries TO tidings_worker;

GRANT SELECT(conversation_id) ON TABLE chan.inbound_deliveries TO tidings_worker;

GRANT SELECT(next_attempt_at) ON TABLE chan.inbound_deliveries TO tidings_worker;

GRANT SELECT(updated_at) ON TABLE chan.inbound_deliveries TO tidings_worker;

GRANT SELECT(status) ON TABLE chan.inbound_deliveries TO tidings_worker;

GRANT SELECT(claimed_by),UPDATE(claimed_by) ON TABLE chan.inbound_deliveries TO tidings_worker;

GRANT SELECT ON TABLE chan.inbound_messages TO tidings_breakglass;

GRANT SELECT ON TABLE chan.inbound_messages TO tidings_runtime;

GRANT DELETE ON TABLE chan.inbound_messages TO tidings_worker;

GRANT SELECT,INSERT ON TABLE chan.inbound_messages TO tidings_platform;

GRANT SELECT(id) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT SELECT(received_at) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT SELECT(tenant_id),UPDATE(tenant_id) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT SELECT(vendor) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT SELECT(adapter) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT SELECT(channel) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT SELECT(destination) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT UPDATE(payload_ciphertext) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT SELECT(status),UPDATE(status) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT UPDATE(status) ON TABLE chan.inbound_messages TO tidings_platform;

GRANT SELECT(attempts),UPDATE(attempts) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT UPDATE(attempts) ON TABLE chan.inbound_messages TO tidings_platform;

GRANT SELECT(next_attempt_at),UPDATE(next_attempt_at) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT UPDATE(next_attempt_at) ON TABLE chan.inbound_messages TO tidings_platform;

GRANT SELECT(updated_at),UPDATE(updated_at) ON TABLE chan.inbound_messages TO tidings_worker;

GRANT UPDATE(updated_at) ON TABLE chan.inbound_messages TO tidings_platform;

GRANT SELECT ON TABLE chan.inbound_unmatched TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.inbound_unmatched TO tidings_worker;

GRANT SELECT ON TABLE chan.inbound_unmatched TO tidings_platform;

GRANT SELECT ON TABLE chan.outbox TO tidings_breakglass;

GRANT INSERT ON TABLE chan.outbox TO tidings_runtime;

GRANT INSERT ON TABLE chan.outbox TO tidings_platform;

GRANT SELECT,DELETE ON TABLE chan.outbox TO tidings_worker;

GRANT SELECT ON TABLE chan.outcome_statistics TO tidings_breakglass;

GRANT SELECT ON TABLE chan.outcome_statistics TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.outcome_statistics TO tidings_worker;

GRANT SELECT ON TABLE chan.outcome_statistics TO tidings_platform;

GRANT SELECT ON TABLE chan.recipient_profiles TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.recipient_profiles TO tidings_runtime;

GRANT SELECT ON TABLE chan.shared_number_contacts TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.shared_number_contacts TO tidings_runtime;

GRANT DELETE ON TABLE chan.shared_number_contacts TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE chan.shared_number_contacts TO tidings_worker;

GRANT SELECT(platform_hash) ON TABLE chan.shared_number_contacts TO tidings_worker;

GRANT SELECT(sender_id) ON TABLE chan.shared_number_contacts TO tidings_worker;

GRANT SELECT(channel) ON TABLE chan.shared_number_contacts TO tidings_worker;

GRANT SELECT(last_sent_at) ON TABLE chan.shared_number_contacts TO tidings_worker;

GRANT SELECT ON TABLE chan.spend_daily TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.spend_daily TO tidings_runtime;

GRANT SELECT ON TABLE chan.step_statistics TO tidings_breakglass;

GRANT SELECT ON TABLE chan.step_statistics TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE chan.step_statistics TO tidings_worker;

GRANT SELECT ON TABLE chan.tenant_inbound_routes TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.tenant_inbound_routes TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE chan.tenant_inbound_routes TO tidings_worker;

GRANT SELECT(id) ON TABLE chan.tenant_inbound_routes TO tidings_worker;

GRANT SELECT(inbound) ON TABLE chan.tenant_inbound_routes TO tidings_worker;

GRANT SELECT(active) ON TABLE chan.tenant_inbound_routes TO tidings_worker;

GRANT SELECT(grace_period_ends_at) ON TABLE chan.tenant_inbound_routes TO tidings_worker;

GRANT SELECT(platform) ON TABLE chan.tenant_inbound_routes TO tidings_worker;

GRANT SELECT ON TABLE chan.unknown_provider_codes TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.unknown_provider_codes TO tidings_runtime;

GRANT SELECT ON TABLE chan.unknown_provider_codes TO tidings_platform;

GRANT DELETE ON TABLE chan.unknown_provider_codes TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE chan.unknown_provider_codes TO tidings_worker;

GRANT SELECT(vendor) ON TABLE chan.unknown_provider_codes TO tidings_worker;

GRANT SELECT(code) ON TABLE chan.unknown_provider_codes TO tidings_worker;

GRANT SELECT(last_seen) ON TABLE chan.unknown_provider_codes TO tidings_worker;

GRANT SELECT ON TABLE chan.vendor_weights TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.vendor_weights TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE chan.vendor_weights TO tidings_platform;

GRANT SELECT ON TABLE chan.vendor_weights TO tidings_worker;

GRANT SELECT ON TABLE chan.webhook_inbound TO tidings_breakglass;

GRANT SELECT ON TABLE chan.webhook_inbound TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE chan.webhook_inbound TO tidings_platform;

GRANT SELECT(id) ON TABLE chan.webhook_inbound TO tidings_worker;

GRANT SELECT(received_at) ON TABLE chan.webhook_inbound TO tidings_worker;

GRANT UPDATE(tenant_id) ON TABLE chan.webhook_inbound TO tidings_platform;

GRANT SELECT(tenant_id) ON TABLE chan.webhook_inbound TO tidings_worker;

GRANT SELECT(vendor) ON TABLE chan.webhook_inbound TO tidings_worker;

GRANT SELECT(adapter) ON TABLE chan.webhook_inbound TO tidings_worker;

GRANT UPDATE(status) ON TABLE chan.webhook_inbound TO tidings_platform;

GRANT SELECT(status),UPDATE(status) ON TABLE chan.webhook_inbound TO tidings_worker;

GRANT UPDATE(reason) ON TABLE chan.webhook_inbound TO tidings_platform;

GRANT UPDATE(updated_at) ON TABLE chan.webhook_inbound TO tidings_platform;

GRANT SELECT(updated_at),UPDATE(updated_at) ON TABLE chan.webhook_inbound TO tidings_worker;

GRANT UPDATE(body_key) ON TABLE chan.webhook_inbound TO tidings_worker;

GRANT SELECT ON TABLE chan.webhook_inbound_dedup TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE ON TABLE chan.webhook_inbound_dedup TO tidings_worker;

GRANT SELECT,INSERT ON TABLE chan.webhook_inbound_dedup TO tidings_platform;

GRANT SELECT ON TABLE chan.webhook_inbound_events TO tidings_breakglass;

GRANT SELECT ON TABLE chan.webhook_inbound_events TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE chan.webhook_inbound_events TO tidings_platform;

GRANT SELECT(id) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT SELECT(received_at) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT SELECT(tenant_id),UPDATE(tenant_id) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT UPDATE(tenant_id) ON TABLE chan.webhook_inbound_events TO tidings_platform;

GRANT SELECT(webhook_inbound_id) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT SELECT(vendor) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT SELECT(adapter) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT SELECT(vendor_message_id) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT SELECT(type) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT UPDATE(payload_ciphertext) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT UPDATE(payload_ciphertext) ON TABLE chan.webhook_inbound_events TO tidings_platform;

GRANT SELECT(status),UPDATE(status) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT UPDATE(status) ON TABLE chan.webhook_inbound_events TO tidings_platform;

GRANT SELECT(attempt_id),UPDATE(attempt_id) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT UPDATE(attempt_id) ON TABLE chan.webhook_inbound_events TO tidings_platform;

GRANT SELECT(correlate_attempts),UPDATE(correlate_attempts) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT UPDATE(correlate_attempts) ON TABLE chan.webhook_inbound_events TO tidings_platform;

GRANT SELECT(next_correlate_at),UPDATE(next_correlate_at) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT UPDATE(next_correlate_at) ON TABLE chan.webhook_inbound_events TO tidings_platform;

GRANT UPDATE(applied_at) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT UPDATE(applied_at) ON TABLE chan.webhook_inbound_events TO tidings_platform;

GRANT SELECT(updated_at),UPDATE(updated_at) ON TABLE chan.webhook_inbound_events TO tidings_worker;

GRANT UPDATE(updated_at) ON TABLE chan.webhook_inbound_events TO tidings_platform;

GRANT SELECT ON TABLE kernel.audit_anchor_lines TO tidings_breakglass;

GRANT SELECT ON TABLE kernel.audit_anchor_lines TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE kernel.audit_anchor_lines TO tidings_platform;

GRANT SELECT(log) ON TABLE kernel.audit_anchor_lines TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE kernel.audit_anchor_lines TO tidings_worker;

GRANT SELECT ON TABLE kernel.audit_anchors TO tidings_breakglass;

GRANT SELECT ON TABLE kernel.audit_anchors TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE kernel.audit_anchors TO tidings_platform;

GRANT SELECT ON TABLE kernel.bus_consumers TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.bus_consumers TO tidings_worker;

GRANT SELECT ON TABLE kernel.bus_events TO tidings_breakglass;

GRANT SELECT ON TABLE kernel.bus_events TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE kernel.bus_events TO tidings_worker;

GRANT SELECT ON TABLE kernel.bus_parked TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.bus_parked TO tidings_worker;

GRANT USAGE ON SEQUENCE kernel.bus_positions TO tidings_worker;

GRANT SELECT ON TABLE kernel.bus_stream TO tidings_breakglass;

GRANT SELECT,UPDATE ON TABLE kernel.bus_stream TO tidings_worker;

GRANT SELECT ON TABLE kernel.data_keys TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE kernel.data_keys TO tidings_runtime;

GRANT UPDATE(wrapped_key) ON TABLE kernel.data_keys TO tidings_runtime;

GRANT UPDATE(tenant_key_version) ON TABLE kernel.data_keys TO tidings_runtime;

GRANT UPDATE(destroyed_at) ON TABLE kernel.data_keys TO tidings_runtime;

GRANT SELECT ON TABLE kernel.dead_letters TO tidings_breakglass;

GRANT SELECT ON TABLE kernel.dead_letters TO tidings_runtime;

GRANT SELECT,INSERT,DELETE ON TABLE kernel.dead_letters TO tidings_worker;

GRANT SELECT ON TABLE kernel.event_version_readers TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.event_version_readers TO tidings_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE kernel.event_version_readers TO tidings_platform;

GRANT SELECT ON TABLE kernel.event_versions TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE kernel.event_versions TO tidings_worker;

GRANT SELECT ON TABLE kernel.exported_months TO tidings_breakglass;

GRANT SELECT ON TABLE kernel.exported_months TO tidings_runtime;

GRANT SELECT ON TABLE kernel.exported_months TO tidings_platform;

GRANT SELECT,INSERT ON TABLE kernel.exported_months TO tidings_worker;

GRANT SELECT ON TABLE kernel.feature_flags TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.feature_flags TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.feature_flags TO tidings_platform;

GRANT SELECT ON TABLE kernel.feature_flags TO tidings_worker;

GRANT SELECT ON TABLE kernel.hot_leases TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.hot_leases TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.hot_leases TO tidings_platform;

GRANT DELETE ON TABLE kernel.hot_leases TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE kernel.hot_leases TO tidings_worker;

GRANT SELECT(key) ON TABLE kernel.hot_leases TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE kernel.hot_leases TO tidings_worker;

GRANT SELECT ON TABLE kernel.hot_limits TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE kernel.hot_limits TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE kernel.hot_limits TO tidings_platform;

GRANT DELETE ON TABLE kernel.hot_limits TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE kernel.hot_limits TO tidings_worker;

GRANT SELECT(key) ON TABLE kernel.hot_limits TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE kernel.hot_limits TO tidings_worker;

GRANT SELECT ON TABLE kernel.hot_presence TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.hot_presence TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.hot_presence TO tidings_platform;

GRANT DELETE ON TABLE kernel.hot_presence TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE kernel.hot_presence TO tidings_worker;

GRANT SELECT(key) ON TABLE kernel.hot_presence TO tidings_worker;

GRANT SELECT(member) ON TABLE kernel.hot_presence TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE kernel.hot_presence TO tidings_worker;

GRANT SELECT ON TABLE kernel.hot_seen TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE kernel.hot_seen TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE kernel.hot_seen TO tidings_platform;

GRANT DELETE ON TABLE kernel.hot_seen TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE kernel.hot_seen TO tidings_worker;

GRANT SELECT(key) ON TABLE kernel.hot_seen TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE kernel.hot_seen TO tidings_worker;

GRANT USAGE ON SEQUENCE kernel.lease_fences TO tidings_runtime;

GRANT USAGE ON SEQUENCE kernel.lease_fences TO tidings_platform;

GRANT SELECT ON TABLE kernel.partitioned_tables TO tidings_runtime;

GRANT SELECT ON TABLE kernel.partitioned_tables TO tidings_worker;

GRANT SELECT ON TABLE kernel.partitioned_tables TO tidings_platform;

GRANT SELECT ON TABLE kernel.partitioned_tables TO tidings_breakglass;

GRANT SELECT ON TABLE kernel.platform_keys TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE kernel.platform_keys TO tidings_platform;

GRANT UPDATE(wrapped_key) ON TABLE kernel.platform_keys TO tidings_platform;

GRANT UPDATE(master_key_id) ON TABLE kernel.platform_keys TO tidings_platform;

GRANT SELECT ON TABLE kernel.processes TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.processes TO tidings_worker;

GRANT SELECT ON TABLE kernel.roll_up_marks TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE kernel.roll_up_marks TO tidings_worker;

GRANT SELECT ON TABLE kernel.schema_migrations TO tidings_runtime;

GRANT SELECT ON TABLE kernel.schema_migrations TO tidings_breakglass;

GRANT SELECT ON TABLE kernel.schema_migrations_log TO tidings_breakglass;

GRANT SELECT ON TABLE kernel.sweep_marks TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE kernel.sweep_marks TO tidings_worker;

GRANT SELECT ON TABLE kernel.tenant_keys TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE kernel.tenant_keys TO tidings_runtime;

GRANT SELECT ON TABLE kernel.tenant_keys TO tidings_platform;

GRANT UPDATE(wrapped_key) ON TABLE kernel.tenant_keys TO tidings_runtime;

GRANT UPDATE(wrapped_key) ON TABLE kernel.tenant_keys TO tidings_platform;

GRANT UPDATE(master_key_id) ON TABLE kernel.tenant_keys TO tidings_runtime;

GRANT UPDATE(master_key_id) ON TABLE kernel.tenant_keys TO tidings_platform;

GRANT UPDATE(state) ON TABLE kernel.tenant_keys TO tidings_runtime;

GRANT UPDATE(retired_at) ON TABLE kernel.tenant_keys TO tidings_runtime;

GRANT SELECT ON TABLE kernel.workers TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.workers TO tidings_worker;

GRANT SELECT ON TABLE notification.address_refusals TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.address_refusals TO tidings_runtime;

GRANT SELECT ON TABLE notification.api_keys TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.api_keys TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.api_keys TO tidings_platform;

GRANT SELECT(id) ON TABLE notification.api_keys TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.api_keys TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE notification.api_keys TO tidings_worker;

GRANT SELECT(revoked_at) ON TABLE notification.api_keys TO tidings_worker;

GRANT SELECT(rotated_to) ON TABLE notification.api_keys TO tidings_worker;

GRANT SELECT ON TABLE notification.audit TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE notification.audit TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE notification.audit TO tidings_platform;

GRANT SELECT(tenant_id) ON TABLE notification.audit TO tidings_worker;

GRANT SELECT ON TABLE notification.audit_heads TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.audit_heads TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.audit_heads TO tidings_platform;

GRANT SELECT(tenant_id) ON TABLE notification.audit_heads TO tidings_worker;

GRANT SELECT ON TABLE notification.batch_counts TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.batch_counts TO tidings_runtime;

GRANT SELECT ON TABLE notification.batch_list TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.batch_list TO tidings_runtime;

GRANT DELETE ON TABLE notification.batch_list TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.batch_list TO tidings_worker;

GRANT SELECT(batch_id) ON TABLE notification.batch_list TO tidings_worker;

GRANT SELECT(recipient_id) ON TABLE notification.batch_list TO tidings_worker;

GRANT SELECT ON TABLE notification.batch_people TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.batch_people TO tidings_runtime;

GRANT DELETE ON TABLE notification.batch_people TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.batch_people TO tidings_worker;

GRANT SELECT(batch_id) ON TABLE notification.batch_people TO tidings_worker;

GRANT SELECT(recipient_id) ON TABLE notification.batch_people TO tidings_worker;

GRANT SELECT ON TABLE notification.branding TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.branding TO tidings_runtime;

GRANT SELECT ON TABLE notification.categories TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.categories TO tidings_runtime;

GRANT SELECT ON TABLE notification.channel_credentials TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.channel_credentials TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE notification.channel_credentials TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.channel_credentials TO tidings_platform;

GRANT SELECT(id) ON TABLE notification.channel_credentials TO tidings_worker;

GRANT SELECT(vendor) ON TABLE notification.channel_credentials TO tidings_platform;

GRANT SELECT(status),UPDATE(status) ON TABLE notification.channel_credentials TO tidings_worker;

GRANT SELECT(status) ON TABLE notification.channel_credentials TO tidings_platform;

GRANT SELECT(rotated_at) ON TABLE notification.channel_credentials TO tidings_worker;

GRANT UPDATE(updated_at) ON TABLE notification.channel_credentials TO tidings_worker;

GRANT UPDATE(revoked_at) ON TABLE notification.channel_credentials TO tidings_worker;

GRANT SELECT ON TABLE notification.channels TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.channels TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE notification.channels TO tidings_platform;

GRANT SELECT(id) ON TABLE notification.channels TO tidings_platform;

GRANT SELECT(channel) ON TABLE notification.channels TO tidings_platform;

GRANT SELECT(vendor) ON TABLE notification.channels TO tidings_platform;

GRANT SELECT(fallback_vendor) ON TABLE notification.channels TO tidings_platform;

GRANT SELECT(status),UPDATE(status) ON TABLE notification.channels TO tidings_platform;

GRANT SELECT(health),UPDATE(health) ON TABLE notification.channels TO tidings_platform;

GRANT SELECT ON TABLE notification.consent_events TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE notification.consent_events TO tidings_runtime;

GRANT UPDATE(evidence) ON TABLE notification.consent_events TO tidings_runtime;

GRANT SELECT ON TABLE notification.consumed_events TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE notification.consumed_events TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE notification.consumed_events TO tidings_platform;

GRANT DELETE ON TABLE notification.consumed_events TO tidings_worker;

GRANT SELECT(consumer_name) ON TABLE notification.consumed_events TO tidings_worker;

GRANT SELECT(event_id) ON TABLE notification.consumed_events TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.consumed_events TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE notification.consumed_events TO tidings_worker;

GRANT SELECT ON TABLE notification.counters TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.counters TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE notification.counters TO tidings_worker;

GRANT SELECT(day) ON TABLE notification.counters TO tidings_worker;

GRANT SELECT(name) ON TABLE notification.counters TO tidings_worker;

GRANT SELECT(channel) ON TABLE notification.counters TO tidings_worker;

GRANT SELECT(n) ON TABLE notification.counters TO tidings_worker;

GRANT SELECT ON TABLE notification.dedup_ledger TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE notification.dedup_ledger TO tidings_runtime;

GRANT SELECT,DELETE ON TABLE notification.dedup_ledger TO tidings_worker;

GRANT SELECT ON TABLE notification.delivery_attempts TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE notification.delivery_attempts TO tidings_runtime;

GRANT SELECT ON TABLE notification.digest_windows TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.digest_windows TO tidings_runtime;

GRANT SELECT,DELETE ON TABLE notification.digest_windows TO tidings_worker;

GRANT UPDATE(state) ON TABLE notification.digest_windows TO tidings_worker;

GRANT UPDATE(claimed_by) ON TABLE notification.digest_windows TO tidings_worker;

GRANT UPDATE(claimed_until) ON TABLE notification.digest_windows TO tidings_worker;

GRANT UPDATE(updated_at) ON TABLE notification.digest_windows TO tidings_worker;

GRANT SELECT ON TABLE notification.dispatch_batches TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.dispatch_batches TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE notification.dispatch_batches TO tidings_worker;

GRANT SELECT(id) ON TABLE notification.dispatch_batches TO tidings_worker;

GRANT SELECT(status) ON TABLE notification.dispatch_batches TO tidings_worker;

GRANT SELECT(completed_at) ON TABLE notification.dispatch_batches TO tidings_worker;

GRANT SELECT(due_at) ON TABLE notification.dispatch_batches TO tidings_worker;

GRANT SELECT(claimed_by),UPDATE(claimed_by) ON TABLE notification.dispatch_batches TO tidings_worker;

GRANT SELECT ON TABLE notification.dispatch_queue TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.dispatch_queue TO tidings_runtime;

GRANT SELECT ON TABLE notification.dispatch_queue TO tidings_worker;

GRANT UPDATE(attempts) ON TABLE notification.dispatch_queue TO tidings_worker;

GRANT UPDATE(claimed_by) ON TABLE notification.dispatch_queue TO tidings_worker;

GRANT SELECT ON TABLE notification.dispatch_requests TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.dispatch_requests TO tidings_runtime;

GRANT SELECT,DELETE ON TABLE notification.dispatch_requests TO tidings_worker;

GRANT SELECT ON TABLE notification.early_bounces TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.early_bounces TO tidings_runtime;

GRANT DELETE ON TABLE notification.early_bounces TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.early_bounces TO tidings_worker;

GRANT SELECT(notification_id) ON TABLE notification.early_bounces TO tidings_worker;

GRANT SELECT(attempt_id) ON TABLE notification.early_bounces TO tidings_worker;

GRANT SELECT(bounced_at) ON TABLE notification.early_bounces TO tidings_worker;

GRANT SELECT ON TABLE notification.erasures TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE notification.erasures TO tidings_runtime;

GRANT SELECT ON TABLE notification.event_readers TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.event_readers TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE notification.event_readers TO tidings_worker;

GRANT SELECT(name) ON TABLE notification.event_readers TO tidings_worker;

GRANT SELECT(types) ON TABLE notification.event_readers TO tidings_worker;

GRANT SELECT ON TABLE notification.idempotency_keys TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.idempotency_keys TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.idempotency_keys TO tidings_platform;

GRANT DELETE ON TABLE notification.idempotency_keys TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.idempotency_keys TO tidings_worker;

GRANT SELECT(scope) ON TABLE notification.idempotency_keys TO tidings_worker;

GRANT SELECT(key) ON TABLE notification.idempotency_keys TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE notification.idempotency_keys TO tidings_worker;

GRANT SELECT ON TABLE notification.import_problems TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE notification.import_problems TO tidings_runtime;

GRANT DELETE ON TABLE notification.import_problems TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.import_problems TO tidings_worker;

GRANT SELECT(import_id) ON TABLE notification.import_problems TO tidings_worker;

GRANT SELECT(place) ON TABLE notification.import_problems TO tidings_worker;

GRANT SELECT ON TABLE notification.import_seen TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE ON TABLE notification.import_seen TO tidings_runtime;

GRANT SELECT,DELETE ON TABLE notification.import_seen TO tidings_worker;

GRANT SELECT ON TABLE notification.imports TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.imports TO tidings_runtime;

GRANT DELETE ON TABLE notification.imports TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.imports TO tidings_worker;

GRANT SELECT(id) ON TABLE notification.imports TO tidings_worker;

GRANT SELECT(updated_at) ON TABLE notification.imports TO tidings_worker;

GRANT SELECT ON TABLE notification.inbox_items TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.inbox_items TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE notification.inbox_items TO tidings_worker;

GRANT SELECT(id) ON TABLE notification.inbox_items TO tidings_worker;

GRANT SELECT(created_at) ON TABLE notification.inbox_items TO tidings_worker;

GRANT SELECT(recipient_id) ON TABLE notification.inbox_items TO tidings_worker;

GRANT SELECT(is_test) ON TABLE notification.inbox_items TO tidings_worker;

GRANT SELECT(due_at) ON TABLE notification.inbox_items TO tidings_worker;

GRANT SELECT ON TABLE notification.inboxes TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.inboxes TO tidings_runtime;

GRANT SELECT ON TABLE notification.layouts TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.layouts TO tidings_runtime;

GRANT SELECT ON TABLE notification.notification_preferences TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.notification_preferences TO tidings_runtime;

GRANT SELECT ON TABLE notification.notification_scheduled TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.notification_scheduled TO tidings_runtime;

GRANT DELETE ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(id) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(kind) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(priority) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(source_event_id) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(notification_id) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(recipient_id) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(run_after) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(obsolete) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(processed_at) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(claimed_by),UPDATE(claimed_by) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(claimed_until),UPDATE(claimed_until) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(attempt_count) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(last_error) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(created_at) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(updated_at),UPDATE(updated_at) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT(trigger_id) ON TABLE notification.notification_scheduled TO tidings_worker;

GRANT SELECT ON TABLE notification.notification_trigger_map TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.notification_trigger_map TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.notification_trigger_map TO tidings_platform;

GRANT SELECT ON TABLE notification.notifications TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.notifications TO tidings_runtime;

GRANT SELECT ON TABLE notification.opt_out_tokens TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.opt_out_tokens TO tidings_runtime;

GRANT DELETE ON TABLE notification.opt_out_tokens TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.opt_out_tokens TO tidings_worker;

GRANT SELECT(id) ON TABLE notification.opt_out_tokens TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE notification.opt_out_tokens TO tidings_worker;

GRANT SELECT ON TABLE notification.outbox TO tidings_breakglass;

GRANT INSERT ON TABLE notification.outbox TO tidings_runtime;

GRANT INSERT ON TABLE notification.outbox TO tidings_platform;

GRANT SELECT,DELETE ON TABLE notification.outbox TO tidings_worker;

GRANT SELECT ON TABLE notification.received_event_ledger TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE notification.received_event_ledger TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE notification.received_event_ledger TO tidings_platform;

GRANT DELETE ON TABLE notification.received_event_ledger TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE notification.received_event_ledger TO tidings_worker;

GRANT SELECT ON TABLE notification.received_events TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE notification.received_events TO tidings_runtime;

GRANT SELECT ON TABLE notification.recipient_addresses TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.recipient_addresses TO tidings_runtime;

GRANT SELECT ON TABLE notification.recipients TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.recipients TO tidings_runtime;

GRANT SELECT ON TABLE notification.searchable_metadata TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE ON TABLE notification.searchable_metadata TO tidings_runtime;

GRANT SELECT ON TABLE notification.soft_bounces TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.soft_bounces TO tidings_runtime;

GRANT DELETE ON TABLE notification.soft_bounces TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.soft_bounces TO tidings_worker;

GRANT SELECT(target_id) ON TABLE notification.soft_bounces TO tidings_worker;

GRANT SELECT(notification_id) ON TABLE notification.soft_bounces TO tidings_worker;

GRANT SELECT(bounced_at) ON TABLE notification.soft_bounces TO tidings_worker;

GRANT SELECT ON TABLE notification.suppression_counts TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.suppression_counts TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.suppression_counts TO tidings_worker;

GRANT SELECT ON TABLE notification.suppressions TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.suppressions TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE notification.suppressions TO tidings_worker;

GRANT SELECT(id) ON TABLE notification.suppressions TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE notification.suppressions TO tidings_worker;

GRANT SELECT(released_at) ON TABLE notification.suppressions TO tidings_worker;

GRANT SELECT ON TABLE notification.template_assets TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.template_assets TO tidings_runtime;

GRANT SELECT ON TABLE notification.template_versions TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.template_versions TO tidings_runtime;

GRANT SELECT ON TABLE notification.templates TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.templates TO tidings_runtime;

GRANT SELECT ON TABLE notification.tenants_local TO tidings_breakglass;

GRANT SELECT ON TABLE notification.tenants_local TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.tenants_local TO tidings_platform;

GRANT SELECT(tenant_id) ON TABLE notification.tenants_local TO tidings_worker;

GRANT SELECT(status) ON TABLE notification.tenants_local TO tidings_worker;

GRANT SELECT(frozen_at) ON TABLE notification.tenants_local TO tidings_worker;

GRANT SELECT(weight) ON TABLE notification.tenants_local TO tidings_worker;

GRANT SELECT ON TABLE notification.trigger_choices TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.trigger_choices TO tidings_runtime;

GRANT SELECT ON TABLE notification.trigger_firings TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.trigger_firings TO tidings_runtime;

GRANT DELETE ON TABLE notification.trigger_firings TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.trigger_firings TO tidings_worker;

GRANT SELECT(id) ON TABLE notification.trigger_firings TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE notification.trigger_firings TO tidings_worker;

GRANT SELECT ON TABLE notification.trigger_subjects TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.trigger_subjects TO tidings_runtime;

GRANT DELETE ON TABLE notification.trigger_subjects TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.trigger_subjects TO tidings_worker;

GRANT SELECT(trigger_id) ON TABLE notification.trigger_subjects TO tidings_worker;

GRANT SELECT(event_source) ON TABLE notification.trigger_subjects TO tidings_worker;

GRANT SELECT(event_subject) ON TABLE notification.trigger_subjects TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE notification.trigger_subjects TO tidings_worker;

GRANT SELECT ON TABLE notification.trigger_versions TO tidings_breakglass;

GRANT SELECT,INSERT ON TABLE notification.trigger_versions TO tidings_runtime;

GRANT SELECT,INSERT ON TABLE notification.trigger_versions TO tidings_platform;

GRANT SELECT ON TABLE notification.webhook_call_counts TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.webhook_call_counts TO tidings_runtime;

GRANT DELETE ON TABLE notification.webhook_call_counts TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.webhook_call_counts TO tidings_worker;

GRANT SELECT(subscription_id) ON TABLE notification.webhook_call_counts TO tidings_worker;

GRANT SELECT(hour) ON TABLE notification.webhook_call_counts TO tidings_worker;

GRANT SELECT ON TABLE notification.webhook_deliveries TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification.webhook_deliveries TO tidings_runtime;

GRANT SELECT ON TABLE notification.webhook_endpoints TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.webhook_endpoints TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE notification.webhook_endpoints TO tidings_worker;

GRANT SELECT(id) ON TABLE notification.webhook_endpoints TO tidings_worker;

GRANT SELECT(due_at) ON TABLE notification.webhook_endpoints TO tidings_worker;

GRANT SELECT(claimed_by),UPDATE(claimed_by) ON TABLE notification.webhook_endpoints TO tidings_worker;

GRANT SELECT ON TABLE notification.webhook_portal_links TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE ON TABLE notification.webhook_portal_links TO tidings_runtime;

GRANT DELETE ON TABLE notification.webhook_portal_links TO tidings_worker;

GRANT SELECT(tenant_id) ON TABLE notification.webhook_portal_links TO tidings_worker;

GRANT SELECT(id) ON TABLE notification.webhook_portal_links TO tidings_worker;

GRANT SELECT(expires_at) ON TABLE notification.webhook_portal_links TO tidings_worker;

GRANT USAGE ON SEQUENCE notification.webhook_positions TO tidings_runtime;

GRANT SELECT ON TABLE notification.webhook_subscriptions TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification.webhook_subscriptions TO tidings_runtime;

GRANT SELECT(tenant_id) ON TABLE notification.webhook_subscriptions TO tidings_worker;

GRANT SELECT(id) ON TABLE notification.webhook_subscriptions TO tidings_worker;

GRANT SELECT(status) ON TABLE notification.webhook_subscriptions TO tidings_worker;

GRANT SELECT(consecutive_failures) ON TABLE notification.webhook_subscriptions TO tidings_worker;

GRANT SELECT(is_test) ON TABLE notification.webhook_subscriptions TO tidings_worker;

GRANT SELECT(disabled_at) ON TABLE notification.webhook_subscriptions TO tidings_worker;

GRANT SELECT ON TABLE notification_platform.categories TO tidings_breakglass;

GRANT SELECT ON TABLE notification_platform.categories TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE notification_platform.categories TO tidings_platform;

GRANT SELECT ON TABLE notification_platform.event_subscription_progress TO tidings_breakglass;

GRANT SELECT,INSERT,UPDATE ON TABLE notification_platform.event_subscription_progress TO tidings_platform;

GRANT SELECT ON TABLE notification_platform.event_subscription_refusals TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification_platform.event_subscription_refusals TO tidings_platform;

GRANT SELECT ON TABLE notification_platform.event_subscriptions TO tidings_breakglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification_platform.event_subscriptions TO tidings_platform;

GRANT SELECT ON TABLE notification_platform.suppressions TO tidings_breakglass;

GRANT SELECT ON TABLE notification_platform.suppressions TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE notification_platform.suppressions TO tidings_platform;

GRANT SELECT ON TABLE notification_platform.template_assets TO tidings_breakglass;

GRANT SELECT ON TABLE notification_platform.template_assets TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification_platform.template_assets TO tidings_platform;

GRANT SELECT ON TABLE notification_platform.template_versions TO tidings_breakglass;

GRANT SELECT ON TABLE notification_platform.template_versions TO tidings_runtime;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification_platform.template_versions TO tidings_platform;

GRANT SELECT ON TABLE notification_platform.templates TO tidings_breakglass;

GRANT SELECT ON TABLE notification_platform.templates TO tidings_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE notification_platform.templates TO tidings_platform;
