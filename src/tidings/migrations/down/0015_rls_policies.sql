-- Emergency only: undoes 0015_pre_rls_policies.

DROP PROCEDURE IF EXISTS kernel.assert_protected;
