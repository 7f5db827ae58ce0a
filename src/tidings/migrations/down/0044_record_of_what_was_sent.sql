-- Emergency only: undoes 0044_pre_record_of_what_was_sent. Where messages went, who they came from and what vendors answered is lost.
ALTER TABLE chan.delivery_attempts DROP COLUMN IF EXISTS content_digest;
ALTER TABLE chan.delivery_attempts DROP COLUMN IF EXISTS sender;
ALTER TABLE chan.delivery_attempts DROP COLUMN IF EXISTS address_ciphertext;
ALTER TABLE chan.delivery_attempts DROP COLUMN IF EXISTS address_hash;
ALTER TABLE chan.delivery_attempts DROP COLUMN IF EXISTS error_message;
ALTER TABLE chan.delivery_attempts DROP COLUMN IF EXISTS retry_after_ms;
ALTER TABLE chan.delivery_attempts DROP COLUMN IF EXISTS http_status;
COMMENT ON COLUMN chan.delivery_attempts.raw_payload_ref IS 'Encrypted object in the blob store: what the vendor answered.';
COMMENT ON COLUMN notification.notifications.address_hash IS 'The address last written to; null until a step was prepared.';
COMMENT ON COLUMN notification.notifications.address_ciphertext IS NULL;
COMMENT ON COLUMN notification.notifications.sender IS 'JSON: the sender as frozen when the first step was prepared.';
COMMENT ON COLUMN notification.notifications.render_snapshot IS 'JSON: body format, checksum, sizes. No text of the message.';
COMMENT ON COLUMN notification.delivery_attempts.raw_response_ref IS 'Encrypted object in the blob store.';
