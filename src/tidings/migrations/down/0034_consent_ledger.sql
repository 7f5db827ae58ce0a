-- Emergency only: undoes 0034_pre_consent_ledger. The ledger is lost.
DELETE FROM notification.opt_out_tokens WHERE purpose <> 'opt_out';
ALTER TABLE notification.opt_out_tokens DROP COLUMN IF EXISTS purpose;
DROP TABLE IF EXISTS notification.consent_events;
DROP FUNCTION IF EXISTS notification.keep_consent_event();
