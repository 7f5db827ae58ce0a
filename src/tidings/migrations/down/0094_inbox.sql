-- Emergency only: undoes 0094_pre_inbox. What people had in their inboxes is lost; that it was delivered stays with the notifications.
DELETE FROM kernel.partitioned_tables WHERE parent = 'notification.inbox_items';
DROP TABLE IF EXISTS notification.inbox_items;
DROP TABLE IF EXISTS notification.inboxes;
