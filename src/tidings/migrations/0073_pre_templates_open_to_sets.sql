-- tidings: oldest-release=0.1.0
-- Templates are looked up for notifications of several tenants at once.

CALL kernel.open_to_sets('notification.templates');
CALL kernel.open_to_sets('notification.template_versions');

CALL kernel.assert_protected();
