-- tidings: oldest-release=0.1.0
-- What dispatching a set of notifications of several tenants reads and writes, beside what accepting one does.
CALL kernel.open_to_sets('notification.branding');
CALL kernel.open_to_sets('notification.channels');
CALL kernel.open_to_sets('notification.categories');
CALL kernel.open_to_sets('notification.notification_preferences');
CALL kernel.open_to_sets('notification.suppressions');
CALL kernel.open_to_sets('notification.address_refusals');
CALL kernel.open_to_sets('notification.opt_out_tokens');
CALL kernel.open_to_sets('kernel.hot_limits');

CALL kernel.assert_protected();
