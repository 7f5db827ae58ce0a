-- tidings: oldest-release=0.1.0
-- Processes remember settings of tenants: keys, states, templates, categories, accounts, policies. A change of such a row is
-- announced when it commits, so that every process forgets that row at once, and need not ask again every second for each of
-- a thousand tenants. NOTIFY is cheap here, because these rows are seldom written.

CREATE OR REPLACE FUNCTION kernel.announce_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION kernel.announce_change IS 'Tells every process that a row which it may remember has changed.';

DROP TRIGGER IF EXISTS announce_change ON notification.tenants_local;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification.tenants_local
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
-- Not when it was last used.
DROP TRIGGER IF EXISTS announce_change ON notification.api_keys;
CREATE TRIGGER announce_change
    AFTER INSERT OR DELETE OR UPDATE OF secret_hash, scopes, role, environment, expires_at, revoked_at, rotated_to, overlap_ends_at, seal
    ON notification.api_keys FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('id');
DROP TRIGGER IF EXISTS announce_change ON notification.categories;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification.categories
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
DROP TRIGGER IF EXISTS announce_change ON notification_platform.categories;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification_platform.categories
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
DROP TRIGGER IF EXISTS announce_change ON notification.templates;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification.templates
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
DROP TRIGGER IF EXISTS announce_change ON notification_platform.templates;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification_platform.templates
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
-- Not its circuit, which has a reader of its own.
DROP TRIGGER IF EXISTS announce_change ON chan.channel_adapter_configs;
CREATE TRIGGER announce_change
    AFTER INSERT OR DELETE OR UPDATE OF phone_number_id_or_handle, secret_ref, rate_limit_per_second, rate_limit_per_day, pricing_model, active, version
    ON chan.channel_adapter_configs FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
DROP TRIGGER IF EXISTS announce_change ON chan.fallback_policies;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON chan.fallback_policies
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
DROP TRIGGER IF EXISTS announce_change ON chan.adapter_status_map;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON chan.adapter_status_map
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
