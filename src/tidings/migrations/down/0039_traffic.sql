-- Emergency only: undoes 0039_pre_traffic.
CALL kernel.open_to_worker('chan.channel_adapter_configs', 'SELECT (id, tenant_id, provider, active)');
DROP TABLE IF EXISTS chan.vendor_weights;
DROP TABLE IF EXISTS chan.circuit_counts;
COMMENT ON COLUMN chan.channel_adapter_configs.circuit_opened_at IS NULL;
DROP INDEX IF EXISTS chan.ix_channel_adapter_configs_circuit;
ALTER TABLE chan.channel_adapter_configs
    DROP COLUMN IF EXISTS circuit_version,
    DROP COLUMN IF EXISTS circuit_changed_at,
    DROP COLUMN IF EXISTS circuit_until,
    DROP COLUMN IF EXISTS circuit_openings,
    DROP COLUMN IF EXISTS circuit_prober,
    DROP COLUMN IF EXISTS circuit_reason,
    DROP COLUMN IF EXISTS circuit_held,
    DROP COLUMN IF EXISTS circuit_held_until,
    DROP COLUMN IF EXISTS circuit_held_reason;
