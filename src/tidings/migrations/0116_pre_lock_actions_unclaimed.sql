-- tidings: oldest-release=0.1.0
-- No release has written this table.
-- squawk-ignore-file ban-drop-column, require-concurrent-index-deletion, require-concurrent-index-creation
-- Nobody claims lock actions: whoever removes one writes how it ended.

DROP INDEX IF EXISTS bff_backoffice.ix_lock_actions_due;
DROP INDEX IF EXISTS bff_backoffice.ix_lock_actions_claimed;
ALTER TABLE bff_backoffice.lock_actions DROP COLUMN IF EXISTS claimed_by;
CREATE INDEX IF NOT EXISTS ix_lock_actions_due ON bff_backoffice.lock_actions (due_at);
CALL kernel.open_to_worker('bff_backoffice.lock_actions', 'SELECT (tenant_id, id, due_at)');

CALL kernel.assert_protected();
