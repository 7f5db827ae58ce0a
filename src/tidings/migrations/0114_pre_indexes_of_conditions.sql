-- tidings: oldest-release=0.1.0
-- tidings: transaction=off
-- What a look for conditions finds without reading what is well.
-- squawk-ignore-file require-concurrent-index-creation

-- tidings: online
CREATE INDEX IF NOT EXISTS ix_counters_trouble ON notification.counters (day, tenant_id, channel, name)
    WHERE name IN ('bounced', 'complaint');

-- tidings: online
CREATE INDEX IF NOT EXISTS ix_webhook_subscriptions_disabled ON notification.webhook_subscriptions (tenant_id, id)
    WHERE status = 'disabled';

-- tidings: online
CREATE INDEX IF NOT EXISTS ix_api_keys_expiry ON notification.api_keys (expires_at)
    WHERE expires_at IS NOT NULL AND revoked_at IS NULL AND rotated_to IS NULL;

-- tidings: online
CREATE INDEX IF NOT EXISTS ix_template_versions_unapproved ON notification.template_versions (updated_at)
    WHERE status = 'draft' AND source = 'ai_drafted' AND approver_user_id IS NULL;
