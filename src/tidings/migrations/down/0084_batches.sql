-- Emergency only: undoes 0084_pre_batches. The ledgers, lists and counts of all batches are lost.

DROP TABLE IF EXISTS notification.batch_list;
DROP TABLE IF EXISTS notification.batch_counts;
DROP TABLE IF EXISTS notification.batch_people;
DROP POLICY IF EXISTS worker_claims ON notification.dispatch_batches;
REVOKE ALL ON notification.dispatch_batches FROM tidings_worker;
DROP INDEX IF EXISTS notification.ix_dispatch_batches_due;
DROP INDEX IF EXISTS notification.ix_dispatch_batches_claimed;
ALTER TABLE notification.dispatch_batches RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay, vacuum_index_cleanup, vacuum_truncate,
    toast.autovacuum_vacuum_scale_factor, toast.autovacuum_vacuum_threshold, toast.autovacuum_vacuum_cost_delay, toast.vacuum_truncate);
ALTER TABLE notification.dispatch_batches
    DROP COLUMN IF EXISTS priority,
    DROP COLUMN IF EXISTS local_time,
    DROP COLUMN IF EXISTS send_window,
    DROP COLUMN IF EXISTS variants,
    DROP COLUMN IF EXISTS needs_approval,
    DROP COLUMN IF EXISTS changed_by,
    DROP COLUMN IF EXISTS approved_by,
    DROP COLUMN IF EXISTS approved_at,
    DROP COLUMN IF EXISTS cloned_from,
    DROP COLUMN IF EXISTS started_by,
    DROP COLUMN IF EXISTS expected,
    DROP COLUMN IF EXISTS walked_to,
    DROP COLUMN IF EXISTS walked_at,
    DROP COLUMN IF EXISTS due_at,
    DROP COLUMN IF EXISTS claimed_by,
    DROP COLUMN IF EXISTS attempts,
    DROP COLUMN IF EXISTS slots,
    DROP COLUMN IF EXISTS problem,
    DROP COLUMN IF EXISTS cancelled_at,
    DROP COLUMN IF EXISTS failed_at,
    DROP COLUMN IF EXISTS resumed_at,
    ADD CONSTRAINT fk_dispatch_batches_category FOREIGN KEY (category) REFERENCES notification_platform.categories (category) NOT VALID;
COMMENT ON COLUMN notification.dispatch_batches.recipient_query IS NULL;
COMMENT ON COLUMN notification.dispatch_batches.rate_limit IS 'Pacing per vendor, sending account and mail domain.';
COMMENT ON COLUMN notification.dispatch_batches.totals IS 'Counters kept with the work, never counted from the big table.';
