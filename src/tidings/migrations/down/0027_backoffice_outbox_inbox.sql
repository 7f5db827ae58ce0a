-- Emergency only: undoes 0027_pre_backoffice_outbox_inbox. Rows are lost.

DROP TABLE IF EXISTS bff_backoffice.idempotency_keys;
DROP TABLE IF EXISTS bff_backoffice.inbox;
DROP TABLE IF EXISTS bff_backoffice.outbox;
