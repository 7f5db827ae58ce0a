-- tidings: oldest-release=0.1.0
-- What was sent stays known: with every attempt the address, sealed, the sender and the digest of what was rendered, and
-- what the vendor answered.

ALTER TABLE chan.delivery_attempts ADD COLUMN IF NOT EXISTS http_status INTEGER;
ALTER TABLE chan.delivery_attempts ADD COLUMN IF NOT EXISTS retry_after_ms INTEGER;
ALTER TABLE chan.delivery_attempts ADD COLUMN IF NOT EXISTS error_message TEXT;
ALTER TABLE chan.delivery_attempts ADD COLUMN IF NOT EXISTS address_hash TEXT COLLATE "C";
ALTER TABLE chan.delivery_attempts ADD COLUMN IF NOT EXISTS address_ciphertext BYTEA;
ALTER TABLE chan.delivery_attempts ADD COLUMN IF NOT EXISTS sender TEXT;
ALTER TABLE chan.delivery_attempts ADD COLUMN IF NOT EXISTS content_digest TEXT COLLATE "C";
COMMENT ON COLUMN chan.delivery_attempts.http_status IS 'Of the vendor''s answer; null where it did not come over HTTP.';
COMMENT ON COLUMN chan.delivery_attempts.retry_after_ms IS 'How long the vendor wanted to be left alone.';
COMMENT ON COLUMN chan.delivery_attempts.error_message IS 'What the vendor said, in short. Redacted: no address, no body.';
COMMENT ON COLUMN chan.delivery_attempts.address_hash IS
    'Where it went, under the tenant''s pepper; of several devices one each, with a space between them.';
COMMENT ON COLUMN chan.delivery_attempts.address_ciphertext IS
    'JSON list under the key of the person who was written to: erasing them makes it unreadable.';
COMMENT ON COLUMN chan.delivery_attempts.sender IS 'JSON: the sender as it was handed to the vendor; adapter_config_id is the account.';
COMMENT ON COLUMN chan.delivery_attempts.content_digest IS 'Of what was rendered, under the tenant''s pepper.';
COMMENT ON COLUMN chan.delivery_attempts.raw_payload_ref IS
    'What the vendor answered: an object in the blob store and a place in it, sealed under the person''s key; kept 30 days.';

COMMENT ON COLUMN notification.notifications.address_hash IS
    'The address last written to, under the tenant''s pepper; null until a step was prepared.';
COMMENT ON COLUMN notification.notifications.address_ciphertext IS
    'The same, a JSON list under the key of whoever was written to: render_snapshot names them where it is not the recipient.';
COMMENT ON COLUMN notification.notifications.sender IS 'JSON: the sender of the step that was prepared last.';
COMMENT ON COLUMN notification.notifications.render_snapshot IS
    'JSON: language, time zone, digest, size, address ids of the step that was prepared last. No text of the message.';
COMMENT ON COLUMN notification.delivery_attempts.raw_response_ref IS
    'The router''s reference to what the vendor answered; sealed under the person''s key, kept 30 days.';

CALL kernel.assert_protected();
