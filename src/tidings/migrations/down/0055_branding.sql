-- Emergency only: undoes 0055_pre_branding. How tenants look is lost.
DROP TABLE IF EXISTS notification.branding;
