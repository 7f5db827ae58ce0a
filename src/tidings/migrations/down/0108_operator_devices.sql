-- Emergency only: undoes 0108_pre_operator_devices. Sessions that were bound to a key are bound to their device's cookie alone.
DROP TABLE IF EXISTS bff_backoffice.device_proofs;
DROP TABLE IF EXISTS bff_backoffice.device_keys;
DROP INDEX IF EXISTS bff_backoffice.ix_device_sync_status_present;
CALL kernel.set_policy('bff_backoffice.device_sync_status', 'owner_undoes', 'FOR ALL TO tidings_owner USING (true) WITH CHECK (true)');
UPDATE bff_backoffice.device_sync_status SET status = 'offline' WHERE status = 'signed_out';
DROP POLICY owner_undoes ON bff_backoffice.device_sync_status;
ALTER TABLE bff_backoffice.device_sync_status
    DROP COLUMN IF EXISTS offline_since,
    DROP CONSTRAINT IF EXISTS ck_device_sync_status_version,
    DROP CONSTRAINT IF EXISTS ck_device_sync_status_status,
    ADD CONSTRAINT ck_device_sync_status_status CHECK (status IN ('online', 'offline'));
