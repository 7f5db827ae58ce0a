-- name: begin_windows
-- Once for each version: when this installation began.
INSERT INTO kernel.event_versions (subject, successor, began_at)
SELECT subject, successor, :now FROM unnest(:subjects::text[], :successors::text[]) AS given (subject, successor)
ON CONFLICT (subject) DO NOTHING;

-- name: note_readers
-- Groups that read an older version now.
INSERT INTO kernel.event_version_readers AS known (subject, group_name, seen_at)
SELECT subject, group_name, :now FROM unnest(:subjects::text[], :group_names::text[]) AS given (subject, group_name)
ORDER BY subject, group_name
ON CONFLICT (subject, group_name) DO UPDATE SET seen_at = excluded.seen_at;

-- name: forget_readers
-- Those that are no more: nobody waits for them.
DELETE FROM kernel.event_version_readers WHERE completed_at IS NULL AND seen_at < :before;

-- name: list_windows
-- Every version with its readers; those without any stand alone.
SELECT version.subject, version.successor, version.began_at, version.closed_at, reader.group_name, reader.completed_at
FROM kernel.event_versions AS version LEFT JOIN kernel.event_version_readers AS reader USING (subject)
ORDER BY version.subject, reader.group_name;

-- name: close_windows
-- For good: a group that comes later finds the newer version.
UPDATE kernel.event_versions SET closed_at = :at WHERE subject = ANY(:subjects::text[]) AND closed_at IS NULL;

-- name: complete
-- A group reads the newer version. One that we have not seen yet is noted with it.
INSERT INTO kernel.event_version_readers AS known (subject, group_name, seen_at, completed_at)
SELECT subject, group_name, :now, :now FROM unnest(:subjects::text[], :group_names::text[]) AS given (subject, group_name)
ORDER BY subject, group_name
ON CONFLICT (subject, group_name) DO UPDATE SET completed_at = coalesce(known.completed_at, excluded.completed_at);
