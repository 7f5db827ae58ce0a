-- tidings: oldest-release=0.1.0
-- Every line of an imported file is taken, refused or skipped, and the row says of how many each is true. Imports that were begun
-- before have no number of lines, and nothing is asked of them.

ALTER TABLE notification.imports ADD COLUMN IF NOT EXISTS skipped BIGINT NOT NULL DEFAULT 0;
ALTER TABLE notification.imports ADD COLUMN IF NOT EXISTS lines BIGINT;
-- So that the file can be run twice.
-- squawk-ignore ban-drop-constraint
ALTER TABLE notification.imports DROP CONSTRAINT IF EXISTS ck_imports_lines_accounted_for;
-- Imports are few: their table is read in a moment.
-- squawk-ignore constraint-missing-not-valid
ALTER TABLE notification.imports ADD CONSTRAINT ck_imports_lines_accounted_for
    CHECK (lines IS NULL OR lines = added + changed + unchanged + refused + skipped);

COMMENT ON COLUMN notification.imports.skipped IS
    'Headings, empty lines, and further lines of a cell that runs over several.';
COMMENT ON COLUMN notification.imports.lines IS
    'Lines of the file that were read; NULL of an import that was begun before they were counted.';
