-- Emergency only: undoes 0007_pre_suppressions. Rows are lost.

DROP TABLE IF EXISTS notification_platform.suppressions;
DROP TABLE IF EXISTS notification.suppressions;
