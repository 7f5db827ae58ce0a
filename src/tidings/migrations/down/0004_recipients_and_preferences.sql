-- Emergency only: undoes 0004_pre_recipients_and_preferences. Rows are lost.

DROP TABLE IF EXISTS notification.notification_preferences;
DROP TABLE IF EXISTS notification.recipient_addresses;
DROP TABLE IF EXISTS notification.recipients;
