-- Emergency only: undoes 0047_pre_channel_health. Channels show what the operator wants, and nothing of their vendors.
REVOKE ALL ON notification.channel_credentials FROM tidings_platform;
DROP POLICY IF EXISTS platform_access ON notification.channel_credentials;
REVOKE ALL ON notification.channels FROM tidings_platform;
DROP POLICY IF EXISTS platform_access ON notification.channels;
COMMENT ON COLUMN notification.channels.health IS NULL;
COMMENT ON COLUMN notification.channels.status IS NULL;
