-- Tables arrive protected, each in its own file. Here is the guard that proves it, called here and after the
-- last table of each service. A later migration that adds a table ends with the same call.

CREATE OR REPLACE PROCEDURE kernel.assert_protected()
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
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
COMMENT ON PROCEDURE kernel.assert_protected IS 'Raises, and names the tables, if any table is not protected.';
REVOKE ALL ON PROCEDURE kernel.assert_protected FROM PUBLIC;

CALL kernel.assert_protected();
