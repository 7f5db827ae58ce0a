-- Emergency only: undoes 0118_pre_swept_invitations.
DROP INDEX IF EXISTS bff_backoffice.ix_operators_link_expiry;
DROP POLICY IF EXISTS worker_claims ON bff_backoffice.operators;
REVOKE ALL ON bff_backoffice.operators FROM tidings_worker;
