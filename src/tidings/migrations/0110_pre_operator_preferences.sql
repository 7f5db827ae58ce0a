-- tidings: oldest-release=0.1.0
-- Preferences of operators are a mirror of what the service `operators` keeps; what people write there is sealed under their own key.
-- squawk-ignore-file ban-drop-column, adding-required-field, adding-not-nullable-field, constraint-missing-not-valid

-- Nothing has written a row yet; what a mirror loses it fetches again.
CALL kernel.set_policy('bff_backoffice.operator_preferences', 'owner_empties', 'FOR ALL TO tidings_owner USING (true) WITH CHECK (true)');
DELETE FROM bff_backoffice.operator_preferences;
DROP POLICY owner_empties ON bff_backoffice.operator_preferences;
ALTER TABLE bff_backoffice.operator_preferences
    DROP COLUMN IF EXISTS payload,
    ADD COLUMN IF NOT EXISTS payload_ciphertext BYTEA NOT NULL,
    ADD COLUMN IF NOT EXISTS fetched_at TIMESTAMPTZ;
COMMENT ON TABLE bff_backoffice.operator_preferences IS 'Mirror of operators'' preferences, with the version that the service `operators` gives them.';
COMMENT ON COLUMN bff_backoffice.operator_preferences.payload_ciphertext IS 'JSON under the operator''s own key: erasing them destroys it.';
COMMENT ON COLUMN bff_backoffice.operator_preferences.fetched_at IS 'When it was as the service has it; null: it has changed there since.';
CALL kernel.assert_protected();
