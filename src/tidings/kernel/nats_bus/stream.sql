-- name: relays_lock
-- No relay is at work while this is held: what one of them moves after it sees where the stream has gone.
SELECT pg_advisory_xact_lock(7411003, 0);

-- name: move_to_nats
-- Places go on where those in Postgres end. Whoever comes second finds it done.
UPDATE kernel.bus_stream
SET engine = 'nats', first_position = place.next, last_position = place.next - 1, moved_at = now()
FROM (SELECT nextval('kernel.bus_positions') AS next) AS place
WHERE engine = 'postgres'
RETURNING first_position;

-- name: group_cursors
-- How far these groups have come; of one that never read there is nothing to say.
SELECT group_name, position FROM kernel.bus_consumers WHERE group_name = ANY(:groups::text[]);

-- name: groups_behind
-- Groups that have not come to the end of what NATS had confirmed: they may have missed events with a stream that was lost.
SELECT group_name FROM kernel.bus_consumers WHERE position < :last_position ORDER BY group_name;
