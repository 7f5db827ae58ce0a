-- Emergency only: undoes 0056_pre_quiet_waiting.
DROP INDEX IF EXISTS notification.ix_notification_scheduled_quiet;
