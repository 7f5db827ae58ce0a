-- tidings: oldest-release=0.1.0
-- A batch has paces for vendors and their accounts, which dispatch looks up for the batches of several tenants at once.

COMMENT ON COLUMN notification.dispatch_batches.rate_limit IS
    'Pacing: people a minute, in all and by mail domain; rates and warm-up by vendor and by account.';
CALL kernel.open_to_sets('notification.dispatch_batches');

CALL kernel.assert_protected();
