-- Emergency only: undoes 0024_pre_router_adapters. Rows are lost.

DROP TABLE IF EXISTS chan.adapter_status_map;
DROP TABLE IF EXISTS chan.tenant_inbound_routes;
DROP TABLE IF EXISTS chan.channel_adapter_configs;
