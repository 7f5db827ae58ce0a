-- name: look
-- How many events wait for a relay, and how many connections to this database are open.
SELECT (SELECT count(*) FROM notification.outbox) + (SELECT count(*) FROM bff_backoffice.outbox) AS waiting,
    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections;
