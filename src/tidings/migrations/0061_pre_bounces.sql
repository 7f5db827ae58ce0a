-- tidings: transaction=off
-- tidings: oldest-release=0.1.0
-- squawk-ignore-file require-concurrent-index-creation, prefer-robust-stmts
-- A bounce that comes by mail names its attempt: the return path of the message carried the attempt's id. Whose it is, is not
-- known before it is found; the primary key begins with the tenant.

-- tidings: online
CREATE INDEX ix_delivery_attempts_by_mail ON chan.delivery_attempts (id) WHERE provider LIKE 'smtp%';
