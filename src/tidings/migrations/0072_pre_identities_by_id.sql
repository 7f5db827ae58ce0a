-- tidings: oldest-release=0.1.0
-- squawk-ignore-file disallowed-unique-constraint, ban-drop-constraint, constraint-missing-not-valid
-- Two indexes that both begin with the tenant are the same to a plan that is made while the table is empty: the check of the
-- foreign key of addresses, and look-ups by id, took the one of identities, and read all recipients of the tenant for each
-- row, until the first ANALYZE. An identity is always asked for as a whole, so the tenant may stand last in it. The table is
-- locked while the index is built, some seconds for a million recipients.
ALTER TABLE notification.recipients
    DROP CONSTRAINT IF EXISTS uq_recipients_identity,
    ADD CONSTRAINT uq_recipients_identity UNIQUE (identity_id, identity_type, tenant_id);
