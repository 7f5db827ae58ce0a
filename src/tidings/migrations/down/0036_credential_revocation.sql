-- Emergency only: undoes 0036_pre_credential_revocation. Since when credentials are unused is forgotten.
DROP POLICY IF EXISTS worker_claims ON notification.channel_credentials;
REVOKE ALL ON notification.channel_credentials FROM tidings_worker;
ALTER TABLE notification.channel_credentials DROP COLUMN IF EXISTS revoked_at;
