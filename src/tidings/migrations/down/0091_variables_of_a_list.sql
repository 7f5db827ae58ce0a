-- Emergency only: undoes 0091_pre_variables_of_a_list. The variables of people on lists are lost.

REVOKE UPDATE ON notification.batch_list FROM tidings_runtime;
ALTER TABLE notification.batch_list DROP COLUMN IF EXISTS variables_ciphertext;
