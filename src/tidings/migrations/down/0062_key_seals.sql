-- Emergency only: undoes 0062_pre_key_seals.
ALTER TABLE notification.api_keys DROP COLUMN IF EXISTS seal;
