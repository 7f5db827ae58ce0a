-- Emergency only: undoes 0054_pre_exact_bodies. Objects stay; what names them does too.
ALTER TABLE notification.notifications ADD COLUMN IF NOT EXISTS subject_ciphertext BYTEA;
ALTER TABLE notification.notifications ADD COLUMN IF NOT EXISTS body_ciphertext BYTEA;
ALTER TABLE notification.notifications ALTER COLUMN body_ciphertext SET STORAGE EXTERNAL;
COMMENT ON COLUMN notification.notifications.body_ref IS NULL;
COMMENT ON COLUMN notification.notifications.body_ciphertext IS 'Short bodies (sms, inapp); long ones are in the blob store under body_ref.';
COMMENT ON COLUMN notification.notifications.variables_ciphertext IS 'Under the recipient''s data key, as are subject and body.';
