-- Emergency only: undoes 0086_pre_bus_stream. Move the stream back to Postgres first (`tidings bus move`); events on NATS are not read after it.
DROP TABLE IF EXISTS kernel.bus_stream;
