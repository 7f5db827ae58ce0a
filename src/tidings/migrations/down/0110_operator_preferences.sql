-- Emergency only: undoes 0110_pre_operator_preferences. The mirror is empty afterwards, and fills again from the service.
CALL kernel.set_policy('bff_backoffice.operator_preferences', 'owner_undoes', 'FOR ALL TO tidings_owner USING (true) WITH CHECK (true)');
DELETE FROM bff_backoffice.operator_preferences;
DROP POLICY owner_undoes ON bff_backoffice.operator_preferences;
ALTER TABLE bff_backoffice.operator_preferences
    DROP COLUMN IF EXISTS fetched_at,
    DROP COLUMN IF EXISTS payload_ciphertext,
    ADD COLUMN IF NOT EXISTS payload TEXT NOT NULL;
