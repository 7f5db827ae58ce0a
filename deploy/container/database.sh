#!/bin/sh
# The database of Tidings, made once, at the first start of Postgres, after roles.sql.
set -eu
psql --set ON_ERROR_STOP=1 --no-psqlrc --username "${POSTGRES_USER:-postgres}" \
  --set owner="$OWNER_PASSWORD" --set runtime="$RUNTIME_PASSWORD" <<'SQL'
ALTER ROLE tidings_owner PASSWORD :'owner';
ALTER ROLE tidings_runtime PASSWORD :'runtime';
CREATE DATABASE tidings OWNER tidings_owner;
REVOKE ALL ON DATABASE tidings FROM PUBLIC;
GRANT CONNECT ON DATABASE tidings TO tidings_runtime;
SQL
