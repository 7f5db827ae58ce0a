-- name: report
-- Times are the server's: those of several machines have to be compared.
INSERT INTO kernel.processes AS process (id, role, services, version, host, pid, jobs, late_jobs, started_at, seen_at, stopped_at)
VALUES (
    :id, :role, :services, :version, :host, :pid, :jobs, :late_jobs, now(), now(), CASE WHEN CAST(:stopped AS boolean) THEN now() END
)
ON CONFLICT (id) DO UPDATE
SET seen_at = now(), jobs = excluded.jobs, late_jobs = excluded.late_jobs, stopped_at = excluded.stopped_at;

-- name: list_processes
-- A few dozen rows.
SELECT id, role, services, version, host, pid, jobs, late_jobs, started_at, seen_at, stopped_at
FROM kernel.processes
WHERE seen_at > now() - INTERVAL '1 day'
ORDER BY started_at DESC
LIMIT 500;

-- name: sweep_processes
-- Nobody asks for them after a week.
DELETE FROM kernel.processes
WHERE id IN (SELECT id FROM kernel.processes WHERE seen_at < now() - INTERVAL '7 days' ORDER BY seen_at LIMIT :limit);
