-- Emergency only: undoes 0006_pre_delivery_attempts_partitioned. Rows are lost.

DROP TABLE IF EXISTS notification.delivery_attempts;
