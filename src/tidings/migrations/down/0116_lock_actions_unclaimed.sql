-- Emergency only: undoes 0116_pre_lock_actions_unclaimed.
DROP INDEX IF EXISTS bff_backoffice.ix_lock_actions_due;
ALTER TABLE bff_backoffice.lock_actions ADD COLUMN IF NOT EXISTS claimed_by TEXT COLLATE "C";
CREATE INDEX IF NOT EXISTS ix_lock_actions_due ON bff_backoffice.lock_actions (due_at) WHERE claimed_by IS NULL;
CREATE INDEX IF NOT EXISTS ix_lock_actions_claimed ON bff_backoffice.lock_actions (claimed_by) WHERE claimed_by IS NOT NULL;
CALL kernel.open_to_worker('bff_backoffice.lock_actions', 'SELECT (tenant_id, id, due_at, claimed_by), UPDATE (claimed_by)');
