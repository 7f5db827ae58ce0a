-- Emergency only: undoes 0078_pre_event_readers. Readers of events have to know their places themselves.
DROP TABLE IF EXISTS notification.event_readers;
