-- Emergency only: undoes 0011_pre_scheduled_workqueue. Rows are lost.

DROP TABLE IF EXISTS notification.digest_windows;
DROP TABLE IF EXISTS notification.notification_scheduled;
