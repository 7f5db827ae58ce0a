-- Emergency only: undoes 0092_pre_event_subscriptions. Delete the subscriptions first (`tidings event-subscription delete`): their
-- consumers on the broker stay otherwise, and messages that were refused are lost.
DROP TABLE IF EXISTS notification_platform.event_subscription_refusals;
DROP TABLE IF EXISTS notification_platform.event_subscription_progress;
DROP TABLE IF EXISTS notification_platform.event_subscriptions;
