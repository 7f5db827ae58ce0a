-- tidings: oldest-release=0.1.0
-- A webhook is told one version of an event that is published in several: that of the day it is pinned to. Those that are there are
-- pinned to the day of the upgrade, when no event has a second version.
-- squawk-ignore-file constraint-missing-not-valid, ban-drop-constraint, adding-field-with-default, adding-required-field, adding-not-nullable-field

ALTER TABLE notification.webhook_subscriptions
    ADD COLUMN IF NOT EXISTS api_version DATE NOT NULL DEFAULT CURRENT_DATE,
    ADD COLUMN IF NOT EXISTS api_version_before DATE,
    ADD COLUMN IF NOT EXISTS api_version_from TIMESTAMPTZ,
    DROP CONSTRAINT IF EXISTS ck_webhook_subscriptions_api_version,
    ADD CONSTRAINT ck_webhook_subscriptions_api_version CHECK ((api_version_before IS NULL) = (api_version_from IS NULL));
COMMENT ON COLUMN notification.webhook_subscriptions.api_version_before IS
    'What events of before api_version_from are judged by, however late they come; null: it was never changed.';
COMMENT ON COLUMN notification.webhook_subscriptions.api_version_from IS
    'Since when api_version counts: some seconds after the change, when all processes know of it.';
COMMENT ON COLUMN notification.webhook_subscriptions.api_version IS
    'Of events that are published in several versions it is told the newest one of that day, or the oldest that is published.';

CALL kernel.assert_protected();
