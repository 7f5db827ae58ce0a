-- Emergency only: undoes 0065_pre_sets_of_tenants. Code that works on rows of several tenants at once sees none after it.
DO $$
DECLARE
    target regclass;
BEGIN
    FOR target IN SELECT polrelid::regclass FROM pg_policy WHERE polname = 'tenant_sets'
    LOOP
        EXECUTE format('DROP POLICY tenant_sets ON %s', target);
    END LOOP;
END;
$$;
DROP PROCEDURE IF EXISTS kernel.open_to_sets(text);
