-- tidings: oldest-release=0.1.0
-- Autovacuum of tables whose rows come and go, so that a Postgres with default settings keeps them short.
--
-- By default a table is vacuumed once a fifth of it is dead, two pages at a time with a pause after each few, and the
-- index is left alone where few pages have dead rows. A queue that is empty most of the time then has an index full of
-- entries that lead nowhere, and its front is what every claim reads.

CREATE OR REPLACE PROCEDURE kernel.store_as_queue(tbl text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- vacuum_truncate: giving pages back would stop the writers, and they are needed again in a moment.
    EXECUTE format('ALTER TABLE %s SET (
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        vacuum_index_cleanup = on, vacuum_truncate = false,
        toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000,
        toast.autovacuum_vacuum_cost_delay = 0, toast.vacuum_truncate = false)', tbl::regclass);
END;
$$;
COMMENT ON PROCEDURE kernel.store_as_queue IS
    'For tables whose rows are soon gone: vacuumed after every thousand, at once, with their indexes.';
REVOKE ALL ON PROCEDURE kernel.store_as_queue FROM PUBLIC;

CREATE OR REPLACE PROCEDURE kernel.store_as_ledger(tbl text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s SET (
        autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_insert_scale_factor = 0.05)', tbl::regclass);
END;
$$;
COMMENT ON PROCEDURE kernel.store_as_ledger IS
    'For tables that hold millions of rows which are replaced or expire: vacuumed when a fiftieth is dead, not a fifth.';
REVOKE ALL ON PROCEDURE kernel.store_as_ledger FROM PUBLIC;

-- Read from the front, again and again.
CALL kernel.store_as_queue('notification.dispatch_queue');
CALL kernel.store_as_queue('notification.notification_scheduled');
CALL kernel.store_as_queue('notification.digest_windows');
CALL kernel.store_as_queue('notification.outbox');
CALL kernel.store_as_queue('chan.outbox');
CALL kernel.store_as_queue('bff_backoffice.outbox');
CALL kernel.store_as_queue('chan.executions_live');
CALL kernel.store_as_queue('chan.inbound_deliveries');
CALL kernel.store_as_queue('kernel.bus_parked');

-- Looked up by key; rows expire by the million, or are changed in place.
CALL kernel.store_as_ledger('notification.counters');
CALL kernel.store_as_ledger('notification.idempotency_keys');
CALL kernel.store_as_ledger('notification.consumed_events');
CALL kernel.store_as_ledger('notification.dedup_ledger');
CALL kernel.store_as_ledger('notification.recipients');
CALL kernel.store_as_ledger('notification.recipient_addresses');
CALL kernel.store_as_ledger('chan.consumed_events');
CALL kernel.store_as_ledger('chan.conversation_messages');
CALL kernel.store_as_ledger('chan.delivery_inbox');
CALL kernel.store_as_ledger('chan.delivery_outbox');
CALL kernel.store_as_ledger('chan.webhook_inbound_dedup');
CALL kernel.store_as_ledger('chan.recipient_profiles');
CALL kernel.store_as_ledger('kernel.data_keys');
CALL kernel.store_as_ledger('kernel.hot_limits');
CALL kernel.store_as_ledger('kernel.hot_seen');

-- One row for each group of consumers, changed with every batch: a page of it at most, and the default threshold of 50 is
-- reached within a second. What it lacks is only to be vacuumed without pauses.
ALTER TABLE kernel.bus_consumers
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0);
