-- Emergency only: undoes 0012_pre_trigger_map. Rows are lost.

DROP TABLE IF EXISTS notification.notification_trigger_map;
