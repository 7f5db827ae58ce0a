-- name: place
-- Which engine has the stream, from which place on, and how far it was confirmed there.
SELECT engine, first_position, last_position, stream_id FROM kernel.bus_stream;

-- name: groups
-- How far each group has come, for the operator.
SELECT consumer.group_name AS "group", consumer.position,
    (SELECT count(*) FROM kernel.bus_parked AS parked WHERE parked.group_name = consumer.group_name) AS parked,
    CASE WHEN consumer.lease_until > clock_timestamp() THEN consumer.owner END AS reader
FROM kernel.bus_consumers AS consumer ORDER BY consumer.group_name;
