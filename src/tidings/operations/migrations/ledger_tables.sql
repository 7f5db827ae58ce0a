-- The runner makes these two tables itself: they must exist before 0001, which is recorded in them.

CREATE SCHEMA IF NOT EXISTS kernel;
REVOKE ALL ON SCHEMA kernel FROM PUBLIC;
GRANT USAGE ON SCHEMA kernel TO tidings_runtime, tidings_breakglass;

CREATE TABLE IF NOT EXISTS kernel.schema_migrations (
  number integer NOT NULL,
  slug text NOT NULL,
  phase text NOT NULL,
  checksum text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
  finished_at timestamptz,
  statements_done integer NOT NULL DEFAULT 0,
  applied_by text NOT NULL,
  duration interval NOT NULL DEFAULT '0',
  CONSTRAINT pk_schema_migrations PRIMARY KEY (number),
  CONSTRAINT ck_schema_migrations_number CHECK (number >= 1),
  CONSTRAINT ck_schema_migrations_phase CHECK (phase IN ('pre', 'post')),
  CONSTRAINT ck_schema_migrations_checksum CHECK (checksum ~ '^[0-9a-f]{64}$'),
  CONSTRAINT ck_schema_migrations_statements CHECK (statements_done >= 0)
);
COMMENT ON TABLE kernel.schema_migrations IS
  'Which migrations this database has; a row without finished_at is half-applied. Only `tidings migrate` writes it.';
ALTER TABLE kernel.schema_migrations ADD COLUMN IF NOT EXISTS oldest_release text
  CONSTRAINT ck_schema_migrations_oldest_release CHECK (oldest_release ~ '^\d+\.\d+\.\d+$');
COMMENT ON COLUMN kernel.schema_migrations.oldest_release IS
  'The oldest release of Tidings that works on the schema with this migration; null: only releases that know it.';
REVOKE ALL ON TABLE kernel.schema_migrations FROM PUBLIC;
-- The serving process asks whether its code can serve the schema.
GRANT SELECT ON TABLE kernel.schema_migrations TO tidings_runtime, tidings_breakglass;

CREATE TABLE IF NOT EXISTS kernel.schema_migrations_log (
  entry bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
  action text NOT NULL,
  number integer NOT NULL,
  slug text NOT NULL,
  checksum text NOT NULL,
  by text NOT NULL,
  reason text,
  CONSTRAINT pk_schema_migrations_log PRIMARY KEY (entry),
  CONSTRAINT ck_schema_migrations_log_action CHECK (action IN ('started', 'resumed', 'applied', 'reverted')),
  CONSTRAINT ck_schema_migrations_log_reason CHECK (action <> 'reverted' OR reason IS NOT NULL)
);
COMMENT ON TABLE kernel.schema_migrations_log IS
  'Everything that `tidings migrate` ever did to this database, emergency reversals included; append-only.';
REVOKE ALL ON TABLE kernel.schema_migrations_log FROM PUBLIC;
GRANT SELECT ON TABLE kernel.schema_migrations_log TO tidings_breakglass;

CREATE OR REPLACE FUNCTION kernel.schema_migrations_log_is_append_only() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $body$
BEGIN
  RAISE EXCEPTION 'kernel.schema_migrations_log is append-only' USING ERRCODE = 'restrict_violation';
END
$body$;
REVOKE ALL ON FUNCTION kernel.schema_migrations_log_is_append_only() FROM PUBLIC;

CREATE OR REPLACE TRIGGER schema_migrations_log_append_only
BEFORE UPDATE OR DELETE OR TRUNCATE ON kernel.schema_migrations_log
FOR EACH STATEMENT EXECUTE FUNCTION kernel.schema_migrations_log_is_append_only();
