-- Emergency only: undoes 0066_pre_queue_storage. Autovacuum comes as often as the server's settings say.
DO $$
DECLARE
    target regclass;
BEGIN
    FOR target IN
        SELECT oid::regclass FROM pg_class
        WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('notification', 'chan', 'kernel', 'bff_backoffice')
          AND reloptions::text LIKE '%autovacuum%'
    LOOP
        EXECUTE format('ALTER TABLE %s RESET (
            autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay,
            autovacuum_vacuum_insert_scale_factor,
            vacuum_index_cleanup, vacuum_truncate, toast.autovacuum_vacuum_scale_factor,
            toast.autovacuum_vacuum_threshold, toast.autovacuum_vacuum_cost_delay, toast.vacuum_truncate)', target);
    END LOOP;
END;
$$;
-- As 0028 and 0032 had them.
ALTER TABLE notification.outbox
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);
ALTER TABLE chan.outbox
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);
ALTER TABLE bff_backoffice.outbox
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);
ALTER TABLE notification.dispatch_queue
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
DROP PROCEDURE IF EXISTS kernel.store_as_queue(text);
DROP PROCEDURE IF EXISTS kernel.store_as_ledger(text);
