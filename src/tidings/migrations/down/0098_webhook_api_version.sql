-- Emergency only: undoes 0098_pre_webhook_api_version. Webhooks are told every version of an event that they take.
ALTER TABLE notification.webhook_subscriptions DROP COLUMN IF EXISTS api_version, DROP COLUMN IF EXISTS api_version_before,
    DROP COLUMN IF EXISTS api_version_from;
