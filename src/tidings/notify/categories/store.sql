-- name: load_categories
-- A short registry that is read whole and remembered.
SELECT category, default_use_case, retention_class, default_priority, default_expiry_seconds, needs_consent,
       can_unsubscribe, breaks_quiet_hours, may_digest, tracking_allowed, version
FROM notification_platform.categories;
