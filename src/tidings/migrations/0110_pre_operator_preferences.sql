-- tidings: oldest-release=0.1.0
-- Preferences of operators are a mirror of what the service `operators` keeps; what people write there is sealed.
-- squawk-ignore-file ban-drop-column, adding-required-field, adding-not-nullable-field, constraint-missing-not-valid

ALTER TABLE bff_backoffice.operator_preferences
    DROP COLUMN IF EXISTS payload,
    ADD COLUMN IF NOT EXISTS payload_ciphertext BYTEA NOT NULL,
    ADD COLUMN IF NOT EXISTS fetched_at TIMESTAMPTZ;
COMMENT ON TABLE bff_backoffice.operator_preferences IS 'Mirror of operators'' preferences, with the version that the service `operators` gives them.';
COMMENT ON COLUMN bff_backoffice.operator_preferences.payload_ciphertext IS 'JSON under the tenant''s key.';
COMMENT ON COLUMN bff_backoffice.operator_preferences.fetched_at IS 'When it was as the service has it; null: it has changed there since.';
-- How somebody likes to work is no right of a role.
CALL kernel.protect_tenant_table('bff_backoffice.operator_preferences', 'SELECT, INSERT, UPDATE, DELETE', true);
CALL kernel.assert_protected();
