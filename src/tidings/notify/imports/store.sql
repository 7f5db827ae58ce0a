-- name: begin_import
-- One per key: who comes second with a key finds the first one's import.
INSERT INTO notification.imports (
    tenant_id, id, kind, options, dry_run, emit_events, idempotency_key, actor, runner, lines, created_at,
    updated_at
)
VALUES (
    :tenant_id, :id, :kind, :options, :dry_run, :emit_events, :idempotency_key, :actor, :runner, 0, :created_at,
    :created_at
)
ON CONFLICT (tenant_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING;

-- name: take_over
-- From here on the one who read before finds that it has another runner, and stops.
UPDATE notification.imports SET
    runner = :runner,
    status = CASE WHEN status = 'completed' THEN status ELSE 'running' END,
    updated_at = CASE WHEN status = 'completed' THEN updated_at ELSE :now END
WHERE tenant_id = :tenant_id AND idempotency_key = :idempotency_key
RETURNING id, kind, status, options, format, dry_run, emit_events, idempotency_key, actor, runner, records_done,
          bytes_done, digest, added, changed, unchanged, refused, skipped, lines, problems, warnings, updated_at, completed_at;

-- name: advance_import
-- With what the set wrote, in one transaction: nothing is counted that was not done, and nothing done twice.
UPDATE notification.imports SET
    format = :format,
    records_done = :records_done,
    bytes_done = :bytes_done,
    digest = :digest,
    added = added + :added,
    changed = changed + :changed,
    unchanged = unchanged + :unchanged,
    refused = refused + :refused,
    skipped = skipped + :skipped,
    lines = lines + :lines,
    problems = problems + :problems,
    warnings = warnings + :warnings,
    updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id AND runner = :runner AND records_done = :from_record
  AND status <> 'completed'
RETURNING problems;

-- name: add_problems
-- The first so many of an import; the others are only counted.
INSERT INTO notification.import_problems (tenant_id, import_id, place, line, column_name, code, what, severity)
SELECT :tenant_id, :import_id, :first + found.n, found.line, found.column_name, found.code, found.what, found.severity
FROM unnest(:lines::bigint[], :columns::text[], :codes::text[], :whats::text[], :severities::text[])
     WITH ORDINALITY AS found (line, column_name, code, what, severity, n);

-- name: end_import
-- Only the one who read it to its end ends it.
UPDATE notification.imports SET
    status = :status,
    completed_at = CASE WHEN :status = 'completed' THEN CAST(:now AS timestamptz) END,
    updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id AND runner = :runner AND status <> 'completed';

-- name: find_import
-- As it stands; its importer looks at it while it runs.
SELECT id, kind, status, options, format, dry_run, emit_events, idempotency_key, actor, runner, records_done,
       bytes_done, digest, added, changed, unchanged, refused, skipped, lines, problems, warnings, updated_at, completed_at
FROM notification.imports
WHERE tenant_id = :tenant_id AND id = :id;

-- name: list_imports
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT id, kind, status, options, format, dry_run, emit_events, idempotency_key, actor, runner, records_done,
       bytes_done, digest, added, changed, unchanged, refused, skipped, lines, problems, warnings, updated_at, completed_at
FROM notification.imports
WHERE tenant_id = :tenant_id
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
  AND kind = ANY(CAST(:kinds AS text[]))
ORDER BY id DESC
LIMIT :limit;

-- name: list_problems
-- In the order in which they were found, from a place on: a report of any length is read in parts.
SELECT place, line, column_name, code, what, severity
FROM notification.import_problems
WHERE tenant_id = :tenant_id AND import_id = :import_id AND place > :after_place
ORDER BY place
LIMIT :limit;

-- name: mark_seen
-- Those that no line of an earlier set was about.
INSERT INTO notification.import_seen (tenant_id, import_id, mark)
SELECT :tenant_id, :import_id, brought.mark
FROM unnest(:marks::bytea[]) AS brought (mark)
ORDER BY brought.mark
ON CONFLICT DO NOTHING
RETURNING mark;

-- name: forget_seen
-- In parts: a file may have had millions of lines.
DELETE FROM notification.import_seen AS mine
USING (
    SELECT mark FROM notification.import_seen
    WHERE tenant_id = :tenant_id AND import_id = :import_id
    LIMIT :limit
) AS taken
WHERE mine.tenant_id = :tenant_id AND mine.import_id = :import_id AND mine.mark = taken.mark;
