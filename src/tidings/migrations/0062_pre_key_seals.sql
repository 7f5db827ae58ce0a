-- tidings: oldest-release=0.1.0
-- Whoever has the database's URL may write rows. A row of api_keys opens a door only with a seal that the application made,
-- with a key that the master key wraps. Existing rows are sealed once, by the first process that looks a key up.

ALTER TABLE notification.api_keys ADD COLUMN IF NOT EXISTS seal bytea;
COMMENT ON COLUMN notification.api_keys.seal IS 'Proof that the application wrote tenant, role, scopes, environment, hash and ends of this row: an empty box of the platform key api_keys, bound to them. A row without a valid one lets nobody in.';
