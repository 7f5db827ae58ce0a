-- tidings: oldest-release=0.1.0
-- A column about devices and mailboxes that nothing has ever filled.

-- squawk-ignore ban-drop-column
ALTER TABLE notification.recipient_addresses DROP COLUMN IF EXISTS metadata;
