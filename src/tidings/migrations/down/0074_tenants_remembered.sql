-- Emergency only: undoes 0074_pre_tenants_remembered. Processes that remember channels see changes after a minute.
DROP TRIGGER IF EXISTS announce_change ON notification.branding;
DROP TRIGGER IF EXISTS announce_change ON notification.channels;
