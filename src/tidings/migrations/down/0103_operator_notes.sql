-- Emergency only: undoes 0103_pre_operator_notes. Notes are lost.
ALTER TABLE bff_backoffice.alert_ack_log ADD COLUMN IF NOT EXISTS notes_truncated TEXT;
ALTER TABLE bff_backoffice.alert_ack_log DROP COLUMN IF EXISTS note_id;
DROP TABLE IF EXISTS bff_backoffice.notes;
