-- tidings: oldest-release=0.1.0
-- squawk-ignore-file require-concurrent-index-creation
-- Links of operators that nobody used are forgotten a month after their end; the worker sees ids and times.

CREATE INDEX IF NOT EXISTS ix_operators_link_expiry ON bff_backoffice.operators (link_expires_at) WHERE link_expires_at IS NOT NULL;
CALL kernel.open_to_worker('bff_backoffice.operators',
    'SELECT (tenant_id, id, link_expires_at), UPDATE (link_hash, link_kind, link_expires_at)');

CALL kernel.assert_protected();
