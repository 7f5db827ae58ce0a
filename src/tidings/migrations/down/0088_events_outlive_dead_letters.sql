-- Emergency only: undoes 0088_pre_events_outlive_dead_letters.
COMMENT ON COLUMN notification.dedup_ledger.channel IS NULL;
COMMENT ON TABLE notification.received_events IS 'Events that other systems sent. One partition a day, dropped after eight: a day later than the bus drops what follows from them.';
UPDATE kernel.partitioned_tables SET keep = 8 WHERE parent = 'notification.received_events';
