-- Emergency only: undoes 0005_pre_notifications_partitioned. Rows are lost.

DROP TABLE IF EXISTS notification.notifications;
