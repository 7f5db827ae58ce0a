-- tidings: oldest-release=0.1.0
-- What the router says of vendor accounts is shown with the channels that go through them. Of the platform's accounts it is
-- said once, and holds for every tenant without an account of its own.

COMMENT ON COLUMN notification.channels.status IS
    'active or disabled as the operator wants it; degraded or down by what the router says of its vendors.';
COMMENT ON COLUMN notification.channels.health IS
    'By vendor, those that take no messages now: the account, why, since when and until when. Not part of the version.';
CALL kernel.open_to_platform('notification.channels',
    'SELECT (tenant_id, id, channel, vendor, fallback_vendor, status, health), UPDATE (status, health)');
CALL kernel.open_to_platform('notification.channel_credentials', 'SELECT (tenant_id, vendor, status)');

CALL kernel.assert_protected();
