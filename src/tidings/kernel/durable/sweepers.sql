-- name: begin_mark
-- What was there before is nobody's: a sweep that is new to an installation does not go through its past. Most of the time the
-- row is there, and nothing is written or waited for.
INSERT INTO kernel.sweep_marks (name)
SELECT :name::text WHERE NOT EXISTS (SELECT FROM kernel.sweep_marks WHERE name = :name::text)
ON CONFLICT DO NOTHING;

-- name: take_mark
-- Whoever has it sweeps; the others pass by.
SELECT swept_until FROM kernel.sweep_marks WHERE name = :name FOR UPDATE SKIP LOCKED;

-- name: move_mark
-- In the transaction that has taken it: where that fails, the sweep has not come so far.
UPDATE kernel.sweep_marks SET swept_until = :until WHERE name = :name;
