-- name: sweep_problems
-- Before their imports: a report may have a hundred thousand lines, which is too much for one statement.
DELETE FROM notification.import_problems AS mine
USING (
    SELECT theirs.tenant_id, theirs.import_id, theirs.place
    FROM notification.imports AS old
    JOIN notification.import_problems AS theirs ON theirs.tenant_id = old.tenant_id AND theirs.import_id = old.id
    WHERE old.updated_at < :over
    LIMIT :limit
) AS taken
WHERE mine.tenant_id = taken.tenant_id AND mine.import_id = taken.import_id AND mine.place = taken.place;

-- name: sweep_seen
-- Marks of dry runs that were not resumed.
DELETE FROM notification.import_seen AS mine
USING (
    SELECT theirs.tenant_id, theirs.import_id, theirs.mark
    FROM notification.imports AS old
    JOIN notification.import_seen AS theirs ON theirs.tenant_id = old.tenant_id AND theirs.import_id = old.id
    WHERE old.updated_at < :over
    LIMIT :limit
) AS taken
WHERE mine.tenant_id = taken.tenant_id AND mine.import_id = taken.import_id AND mine.mark = taken.mark;

-- name: sweep_imports
-- Those that have nothing left; one that is resumed right now is no longer old, and stays.
DELETE FROM notification.imports AS mine
USING (
    SELECT old.tenant_id, old.id
    FROM notification.imports AS old
    WHERE old.updated_at < :over
      AND NOT EXISTS (SELECT FROM notification.import_problems AS p WHERE p.tenant_id = old.tenant_id AND p.import_id = old.id)
      AND NOT EXISTS (SELECT FROM notification.import_seen AS s WHERE s.tenant_id = old.tenant_id AND s.import_id = old.id)
    ORDER BY old.updated_at
    LIMIT :limit
) AS bare
WHERE mine.tenant_id = bare.tenant_id AND mine.id = bare.id AND mine.updated_at < :over;
