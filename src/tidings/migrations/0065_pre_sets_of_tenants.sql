-- tidings: oldest-release=0.1.0
-- A transaction may work on a set of rows of several tenants: it names them in app.tenant_ids, and the policies confine it to
-- them. Only on tables that are opened to sets, one by one.
--
-- The list is read once for each statement (a sub-select without a reference to the row), and a row's tenant is looked up in it
-- as a key of a jsonb object, which is a binary search: 200 tenants cost what one does. It is no condition that an index could
-- serve, on purpose. As `tenant_id = ANY (list)` a generic plan took it to an index, and a join of 100 rows needed 200 ms
-- instead of 0.6. So statements over sets carry `tenant_id = …` for each row, and the policy only refuses.

CREATE OR REPLACE PROCEDURE kernel.open_to_sets(tbl text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- nullif: after a transaction-local setting ends it reads as '', which must match no row.
    named_rows CONSTANT text := $q$(SELECT jsonb_object(named, named)
        FROM string_to_array(nullif(current_setting('app.tenant_ids', true), ''), ',') AS named) ? tenant_id$q$;
BEGIN
    CALL kernel.set_policy(tbl::regclass, 'tenant_sets', format(
        'FOR ALL TO tidings_runtime USING (%1$s) WITH CHECK (%1$s)', named_rows));
END;
$$;
COMMENT ON PROCEDURE kernel.open_to_sets IS 'Lets a transaction touch rows of all tenants that it names in app.tenant_ids.';
REVOKE ALL ON PROCEDURE kernel.open_to_sets FROM PUBLIC;

-- What accepting a set of notifications touches.
CALL kernel.open_to_sets('kernel.tenant_keys');
CALL kernel.open_to_sets('kernel.data_keys');
CALL kernel.open_to_sets('notification.idempotency_keys');
CALL kernel.open_to_sets('notification.tenants_local');
CALL kernel.open_to_sets('notification.recipients');
CALL kernel.open_to_sets('notification.recipient_addresses');
CALL kernel.open_to_sets('notification.notifications');
CALL kernel.open_to_sets('notification.searchable_metadata');
CALL kernel.open_to_sets('notification.dispatch_queue');
CALL kernel.open_to_sets('notification.notification_scheduled');
CALL kernel.open_to_sets('notification.outbox');
CALL kernel.open_to_sets('notification.counters');
CALL kernel.open_to_sets('notification.dedup_ledger');
CALL kernel.open_to_sets('chan.recipient_profiles');

CALL kernel.assert_protected();
