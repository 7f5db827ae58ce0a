-- A superseded credential becomes a revoked one when nothing can be under way with it any more.

ALTER TABLE notification.channel_credentials ADD COLUMN IF NOT EXISTS revoked_at TIMESTAMPTZ;
COMMENT ON COLUMN notification.channel_credentials.revoked_at IS
    'Since when nothing is sent with it: from then on it may be deleted at the vendor.';

-- The sweeper looks across tenants, at which are due and at nothing else.
CALL kernel.open_to_worker('notification.channel_credentials',
    'SELECT (tenant_id, id, status, rotated_at), UPDATE (status, revoked_at, updated_at)');

CALL kernel.assert_protected();
