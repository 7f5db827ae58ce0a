-- tidings: oldest-release=0.1.0
-- A list brings variables of each person's own: sealed under their key, so that an erasure reaches them, and removed with the list.

ALTER TABLE notification.batch_list ADD COLUMN IF NOT EXISTS variables_ciphertext BYTEA;
COMMENT ON COLUMN notification.batch_list.variables_ciphertext IS
    'What a list says of this person alone, over the variables of the batch; sealed under their key.';
GRANT UPDATE ON notification.batch_list TO tidings_runtime;

CALL kernel.assert_protected();
