-- Emergency only: undoes 0090_pre_batches_by_account. Paces by vendor and account are not looked up any more.

DROP POLICY IF EXISTS tenant_sets ON notification.dispatch_batches;
COMMENT ON COLUMN notification.dispatch_batches.rate_limit IS 'Pacing: people a minute, in all and by mail domain.';
