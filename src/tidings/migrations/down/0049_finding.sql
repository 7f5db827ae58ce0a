-- Emergency only: undoes 0049_pre_finding. Notifications are no longer found by their metadata, nor known to repeat another.
DELETE FROM kernel.partitioned_tables WHERE parent = 'notification.searchable_metadata';
DROP TABLE IF EXISTS notification.searchable_metadata;
ALTER TABLE notification.notifications DROP COLUMN IF EXISTS resent_from;
