-- Emergency only: undoes 0063_pre_lines_accounted_for.
ALTER TABLE notification.imports DROP CONSTRAINT IF EXISTS ck_imports_lines_accounted_for;
ALTER TABLE notification.imports DROP COLUMN IF EXISTS lines;
ALTER TABLE notification.imports DROP COLUMN IF EXISTS skipped;
