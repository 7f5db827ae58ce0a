-- Emergency only: undoes 0067_pre_dispatch_of_tenants. Code that dispatches notifications of several tenants at once sees none after it.
DROP POLICY IF EXISTS tenant_sets ON notification.branding;
DROP POLICY IF EXISTS tenant_sets ON notification.channels;
DROP POLICY IF EXISTS tenant_sets ON notification.categories;
DROP POLICY IF EXISTS tenant_sets ON notification.notification_preferences;
DROP POLICY IF EXISTS tenant_sets ON notification.suppressions;
DROP POLICY IF EXISTS tenant_sets ON notification.address_refusals;
DROP POLICY IF EXISTS tenant_sets ON notification.opt_out_tokens;
DROP POLICY IF EXISTS tenant_sets ON kernel.hot_limits;
