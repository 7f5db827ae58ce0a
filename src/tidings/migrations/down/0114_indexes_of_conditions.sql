-- Emergency only: undoes 0114_pre_indexes_of_conditions.
DROP INDEX IF EXISTS notification.ix_counters_trouble;
DROP INDEX IF EXISTS notification.ix_webhook_subscriptions_disabled;
DROP INDEX IF EXISTS notification.ix_api_keys_expiry;
DROP INDEX IF EXISTS notification.ix_template_versions_unapproved;
