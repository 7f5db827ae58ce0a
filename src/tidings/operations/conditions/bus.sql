-- name: dead_letters
-- Of the last day, by the time inside their ids; they are kept for two weeks, and are few.
SELECT group_name, count(*) AS letters
FROM (SELECT group_name FROM kernel.dead_letters WHERE id > :since LIMIT 10000) AS fresh
GROUP BY group_name;
