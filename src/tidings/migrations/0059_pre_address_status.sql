-- tidings: oldest-release=0.1.0
-- Whether an address may be written to is said by its suppressions, by hash; an address that was given up is removed. A second
-- place that says it, and that nothing has ever written, goes.

-- squawk-ignore ban-drop-column
ALTER TABLE notification.recipient_addresses DROP COLUMN IF EXISTS status;
