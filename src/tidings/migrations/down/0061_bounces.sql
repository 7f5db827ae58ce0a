-- Emergency only: undoes 0061_pre_bounces. Bounces by mail find their attempts slowly without it.
DROP INDEX IF EXISTS chan.ix_delivery_attempts_by_mail;
