-- Emergency only: undoes 0059_pre_address_status.
ALTER TABLE notification.recipient_addresses ADD COLUMN IF NOT EXISTS status TEXT NOT NULL DEFAULT 'active';
ALTER TABLE notification.recipient_addresses DROP CONSTRAINT IF EXISTS ck_recipient_addresses_status;
ALTER TABLE notification.recipient_addresses ADD CONSTRAINT ck_recipient_addresses_status
    CHECK (status IN ('active', 'suppressed', 'revoked'));
