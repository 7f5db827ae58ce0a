-- Emergency only: undoes 0057_pre_address_metadata.
ALTER TABLE notification.recipient_addresses ADD COLUMN IF NOT EXISTS metadata JSONB;
COMMENT ON COLUMN notification.recipient_addresses.metadata IS 'About the device or mailbox, not about the person.';
