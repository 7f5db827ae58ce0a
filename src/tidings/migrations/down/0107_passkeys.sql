-- Emergency only: undoes 0107_pre_passkeys. Who has nothing but a passkey can't sign in.
ALTER TABLE bff_backoffice.operators DROP COLUMN IF EXISTS passkeys;
DROP TABLE IF EXISTS bff_backoffice.passkey_challenges;
DROP TABLE IF EXISTS bff_backoffice.passkeys;
