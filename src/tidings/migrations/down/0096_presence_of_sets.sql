-- Emergency only: undoes 0096_pre_presence_of_sets. Nobody is known to be online.
DROP POLICY IF EXISTS tenant_sets ON kernel.hot_presence;
DROP POLICY IF EXISTS caller_role_writes ON kernel.hot_presence;
DROP POLICY IF EXISTS caller_role_deletes ON kernel.hot_presence;
DELETE FROM kernel.hot_presence WHERE tenant_id IS NOT NULL;
