-- Emergency only: undoes 0115_pre_lock_action_answers. Repeated requests of before are not known as such.
ALTER TABLE bff_backoffice.lock_actions ADD COLUMN IF NOT EXISTS upstream_request_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE bff_backoffice.lock_actions ALTER COLUMN upstream_request_id DROP DEFAULT;
ALTER TABLE bff_backoffice.lock_actions DROP COLUMN IF EXISTS key_scope;
ALTER TABLE bff_backoffice.lock_actions DROP COLUMN IF EXISTS idempotency_key;
