-- The five database roles of Tidings, for an administrator to run once per Postgres server.
-- Running it again changes nothing. Every statement ends with an empty line, and none has one inside:
-- the embedded server reads this file in single-user mode, which splits there.
-- tidings_owner owns schemas and tables and runs migrations; it is under row-level security like everybody.
-- tidings_runtime serves; it owns nothing and gets the rights of the next two only by SET ROLE.
-- tidings_worker claims work across tenants, on queue tables that hold ids.
-- tidings_platform writes rows that belong to no tenant.
-- tidings_breakglass reads everything; only the owner reaches it, through `tidings break-glass --reason`.

DO $roles$
DECLARE
  wanted record;
BEGIN
  FOR wanted IN
    SELECT * FROM (VALUES
      ('tidings_worker', 'NOLOGIN'),
      ('tidings_platform', 'NOLOGIN'),
      ('tidings_breakglass', 'NOLOGIN'),
      ('tidings_owner', 'LOGIN NOINHERIT'),
      ('tidings_runtime', 'LOGIN NOINHERIT')
    ) AS roles (name, options)
  LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted.name) THEN
      EXECUTE pg_catalog.format('CREATE ROLE %I %s', wanted.name, wanted.options);
    END IF;
  END LOOP;
END
$roles$;

DO $members$
BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_catalog.pg_auth_members AS held
    WHERE held.roleid = 'tidings_worker'::pg_catalog.regrole AND held.member = 'tidings_runtime'::pg_catalog.regrole
  ) THEN
    GRANT tidings_worker TO tidings_runtime;
  END IF;
  IF NOT EXISTS (
    SELECT FROM pg_catalog.pg_auth_members AS held
    WHERE held.roleid = 'tidings_platform'::pg_catalog.regrole AND held.member = 'tidings_runtime'::pg_catalog.regrole
  ) THEN
    GRANT tidings_platform TO tidings_runtime;
  END IF;
  IF NOT EXISTS (
    SELECT FROM pg_catalog.pg_auth_members AS held
    WHERE held.roleid = 'tidings_breakglass'::pg_catalog.regrole AND held.member = 'tidings_owner'::pg_catalog.regrole
  ) THEN
    GRANT tidings_breakglass TO tidings_owner;
  END IF;
END
$members$;

