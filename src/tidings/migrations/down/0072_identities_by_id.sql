-- Emergency only: undoes 0072_pre_identities_by_id.
ALTER TABLE notification.recipients
    DROP CONSTRAINT IF EXISTS uq_recipients_identity,
    ADD CONSTRAINT uq_recipients_identity UNIQUE (tenant_id, identity_type, identity_id);
