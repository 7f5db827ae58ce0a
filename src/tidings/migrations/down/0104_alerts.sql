-- Emergency only: undoes 0104_pre_alerts. All alerts are lost.
DROP TABLE IF EXISTS bff_backoffice.alerts;
