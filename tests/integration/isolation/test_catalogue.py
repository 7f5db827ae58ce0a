"""What the catalogue of the migrated database must say about isolation, whatever tables there are."""

import asyncpg
import pytest

from tests.support.postgres import TestDatabase
from tests.support.rows import SCHEMAS

SERVICES = ("notification", "chan", "bff_backoffice")

#: Tables of a service that have no tenant, each with the reason.
WITHOUT_TENANT = {
    "chan.circuit_counts": "how often vendor accounts answered in the last minutes; for the worker role alone",
    "chan.inbound_unmatched": "counts of messages that were nobody's; no tenant is known",
    "chan.webhook_inbound_dedup": "asked before the tenant of a callback is known; holds vendor ids only",
}

#: Tables of the kernel without row-level security, each with the reason.
KERNEL_OPEN = {
    "kernel.schema_migrations": "the ledger of migrations; no tenant's data",
    "kernel.schema_migrations_log": "the ledger of migrations; no tenant's data",
    "kernel.partitioned_tables": "the registry of partitioned tables; no tenant's data",
}

#: Unique keys of tenants' tables that do not lead with the tenant, each with the reason.
KEYS_LED_BY_ANOTHER_COLUMN = {
    "chan.ux_tenant_inbound_routes_shared": "on shared accounts one number belongs to one tenant",
    "notification.uq_recipients_identity": "the tenant is last: on an empty table a plan takes it for the primary key otherwise",
    "notification.uq_tenants_local_slug": "a slug names one tenant",
}

#: Columns that hold content or secrets, and which of the roles that see all tenants may read them, each with the reason.
CONTENT = r"ciphertext|payload|envelope|body|secret|wrapped|variables|address|subject_|response|^before$|^after$|_url$|sender$"
READABLE_CONTENT = {
    "tidings_worker": {
        "notification.outbox": "the relay moves events: ids and facts, by contract no content",
        "chan.outbox": "as above",
        "bff_backoffice.outbox": "as above",
        "kernel.bus_events": "consumers read the stream for every tenant",
        "kernel.bus_parked": "consumers try failed events again",
        "kernel.dead_letters": "operators look at dead letters",
    },
    "tidings_platform": {
        "chan.webhook_inbound": "callbacks of nobody yet; afterwards only of the tenant it acts for",
        "chan.webhook_inbound_events": "as above",
        "chan.inbound_messages": "messages of nobody yet",
        "chan.channel_adapter_configs": "the platform's own rows",
        "notification.api_keys": "a caller's key is looked up before its tenant is known; hashes only",
        "notification.idempotency_keys": "the platform's own rows",
        "notification.notification_trigger_map": "the platform's own rows; paths into events, and no event",
        "bff_backoffice.idempotency_keys": "the platform's own rows",
        "notification.audit": "the platform's own rows",
        "chan.audit": "the platform's own rows",
        "bff_backoffice.audit": "the platform's own rows",
        "bff_backoffice.alert_subscriptions": "the platform's own rows",
        "bff_backoffice.devices": "a device is looked up before its tenant is known; hashes only",
        "bff_backoffice.operators": "who signs in is looked up before their tenant is known; names are sealed under the tenant's key",
        "notification_platform.event_subscription_refusals": "messages of no tenant, under a key of the platform's",
        "notification_platform.suppressions": "the platform's own table; hashes only",
        "notification_platform.template_versions": "the platform's own table",
        "kernel.tenant_keys": "rotating the master key wraps them anew",
        "kernel.platform_keys": "the platform's own table",
    },
}

_TABLES = """
SELECT c.oid, n.nspname AS schema, n.nspname || '.' || c.relname AS name, c.relispartition AS partition,
       c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced, c.relowner::regrole::text AS owner,
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id'
               AND NOT a.attisdropped) AS has_tenant,
       obj_description(c.oid, 'pg_class') AS comment
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p')
ORDER BY 3
"""
_GRANTS = """
SELECT n.nspname || '.' || c.relname AS name, c.relispartition AS partition,
       CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END AS grantee, g.privilege_type AS verb
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
    SELECT grantee, privilege_type FROM aclexplode(c.relacl)
    UNION
    SELECT e.grantee, e.privilege_type FROM pg_attribute a CROSS JOIN LATERAL aclexplode(a.attacl) AS e
    WHERE a.attrelid = c.oid
) AS g
WHERE n.nspname = ANY($1) AND g.grantee <> c.relowner
"""
_OTHER_OBJECTS = """
SELECT n.nspname || '.' || c.relname AS name,
       CASE c.relkind WHEN 'v' THEN 'a view' WHEN 'm' THEN 'a materialised view' ELSE 'a foreign table' END AS what
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY($1) AND c.relkind IN ('v', 'm', 'f')
UNION ALL
SELECT p.oid::regprocedure::text, 'a routine with its owner''s rights'
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = ANY($1) AND p.prosecdef
UNION ALL
SELECT p.oid::regprocedure::text, 'a routine that others may call'
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS g
WHERE n.nspname = ANY($1) AND g.grantee <> p.proowner
UNION ALL
SELECT p.oid::regprocedure::text, 'a routine without a search path of its own'
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = ANY($1) AND NOT coalesce(array_to_string(p.proconfig, ' '), '') LIKE '%search_path=pg_catalog%'
"""
_CONSTRAINT_NAMES = """
SELECT k.conrelid::regclass::text AS name, k.conname
FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace JOIN pg_class c ON c.oid = k.conrelid
WHERE n.nspname = ANY($1) AND k.contype IN ('p', 'u', 'f', 'c') AND NOT c.relispartition
  AND k.conname !~ ('^' || CASE k.contype WHEN 'p' THEN 'pk' WHEN 'u' THEN 'uq' WHEN 'f' THEN 'fk' ELSE 'ck' END || '_')
"""
_KEYS = """
SELECT c.relname AS table, n.nspname || '.' || i.relname AS name, a.attname AS leads
FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute tenant ON tenant.attrelid = c.oid AND tenant.attname = 'tenant_id' AND tenant.attnotnull
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
WHERE n.nspname = ANY($1) AND x.indisunique AND NOT c.relispartition
"""
_READABLE = """
SELECT n.nspname || '.' || c.relname AS name, a.attname AS column, r.role
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
CROSS JOIN unnest(ARRAY['tidings_worker', 'tidings_platform']) AS r (role)
WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND a.attname ~ $2
  AND has_column_privilege(r.role, c.oid, a.attnum, 'SELECT')
"""
#: A log that can be rewritten is none: nobody may hold these verbs on a table whose changes raise.
_REWRITABLE_LOGS = """
SELECT t.tgrelid::regclass::text AS name, g.grantee::regrole::text AS grantee, g.privilege_type AS verb
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid CROSS JOIN LATERAL aclexplode(c.relacl) AS g
WHERE t.tgname = 'append_only' AND g.grantee <> c.relowner AND g.privilege_type NOT IN ('SELECT', 'INSERT')
"""


async def faults(connection: asyncpg.Connection) -> list[str]:
    """Everything about isolation that is not as it should be, one sentence each."""
    found: list[str] = []
    policies = await connection.fetch(
        "SELECT polrelid, polname, polcmd::text AS command, polpermissive, polqual IS NOT NULL AS reads, "
        "polwithcheck IS NOT NULL AS writes, polroles::regrole[]::text[] AS roles, "
        "pg_get_expr(polqual, polrelid) AS condition FROM pg_policy"
    )
    for table in await connection.fetch(_TABLES, list(SCHEMAS)):
        name = table["name"]
        mine = [p for p in policies if p["polrelid"] == table["oid"]]
        if name not in KERNEL_OPEN and not (table["enabled"] and table["forced"]):
            found.append(f"{name}: row-level security is not enabled and forced")
        if table["partition"]:
            if mine:
                found.append(f"{name}: a partition has a policy of its own")
            continue
        if not table["comment"]:
            found.append(f"{name}: has no comment")
        if table["owner"] != "tidings_owner":
            found.append(f"{name}: is owned by {table['owner']}")
        if table["schema"] in SERVICES and not table["has_tenant"] and name not in WITHOUT_TENANT:
            found.append(f"{name}: has no tenant_id")
        if table["has_tenant"] and not any(
            p["polname"] == "tenant_isolation"
            and p["command"] == "*"
            and p["polpermissive"]
            and p["reads"]
            and p["writes"]
            and p["roles"] == ["tidings_runtime"]
            and "current_setting('app.tenant_id'::text, true)" in p["condition"]
            for p in mine
        ):
            found.append(f"{name}: has no tenant_isolation policy for reading and writing")
        for policy in mine:
            wide = policy["polpermissive"] and policy["condition"] == "true"
            if wide and "tidings_runtime" in policy["roles"] and table["has_tenant"]:
                found.append(
                    f"{name}: policy {policy['polname']} shows every tenant's rows to the runtime role"
                )
            if policy["roles"] == ["-"]:
                found.append(f"{name}: policy {policy['polname']} is for PUBLIC")
    for grant in await connection.fetch(_GRANTS, list(SCHEMAS)):
        name, grantee, verb = grant["name"], grant["grantee"], grant["verb"]
        if grant["partition"]:
            found.append(f"{name}: a partition is granted to {grantee}")
        if grantee not in {"tidings_runtime", "tidings_worker", "tidings_platform", "tidings_breakglass"}:
            found.append(f"{name}: is granted to {grantee}")
        if verb in {"TRUNCATE", "TRIGGER", "REFERENCES", "MAINTAIN"}:
            found.append(f"{name}: {grantee} has {verb}")
        if grantee == "tidings_breakglass" and verb != "SELECT":
            found.append(f"{name}: break-glass has {verb}")
    found += [
        f"{row['name']}: is {row['what']}" for row in await connection.fetch(_OTHER_OBJECTS, list(SCHEMAS))
    ]
    found += [
        f"{row['name']}: constraint {row['conname']} is not named by its kind"
        for row in await connection.fetch(_CONSTRAINT_NAMES, list(SCHEMAS))
    ]
    found += [
        f"{row['name']}: a key of a tenant's table leads with {row['leads']}"
        for row in await connection.fetch(_KEYS, list(SCHEMAS))
        if row["leads"] != "tenant_id" and row["name"] not in KEYS_LED_BY_ANOTHER_COLUMN
    ]
    found += [
        f"{row['name']}: {row['role']} reads {row['column']}"
        for row in await connection.fetch(_READABLE, list(SCHEMAS), CONTENT)
        if row["name"] not in READABLE_CONTENT[row["role"]]
    ]
    found += [
        f"{row['name']}: is append-only and {row['grantee']} has {row['verb']}"
        for row in await connection.fetch(_REWRITABLE_LOGS)
    ]
    return sorted(set(found))


async def test_every_table_is_protected(worker_database: TestDatabase) -> None:
    """Forced policies, no grant on a partition, none too many, an owner, a comment."""
    async with worker_database.owner() as connection:
        assert await faults(connection) == []


async def test_the_runtime_role_owns_nothing_and_bypasses_nothing(worker_database: TestDatabase) -> None:
    """Neither a superuser, nor an owner, nor exempt from row-level security; the groups can't log in."""
    async with worker_database.owner() as connection:
        roles = {
            r["rolname"]: r
            for r in await connection.fetch(
                "SELECT rolname, rolsuper, rolbypassrls, rolcanlogin, rolinherit, rolcreaterole "
                "FROM pg_roles WHERE rolname LIKE 'tidings_%'"
            )
        }
        owned = await connection.fetchval(
            "SELECT count(*) FROM pg_class WHERE relowner::regrole::text <> 'tidings_owner' "
            "AND relnamespace::regnamespace::text = ANY($1)",
            list(SCHEMAS),
        )
        may_create = await connection.fetchval(
            "SELECT bool_or(has_schema_privilege('tidings_runtime', nspname, 'CREATE')) FROM pg_namespace "
            "WHERE nspname = ANY($1)",
            list(SCHEMAS),
        )

    assert not any(r["rolsuper"] or r["rolbypassrls"] or r["rolcreaterole"] for r in roles.values())
    assert not roles["tidings_runtime"]["rolinherit"]
    assert not any(roles[f"tidings_{name}"]["rolcanlogin"] for name in ("worker", "platform", "breakglass"))
    assert owned == 0
    assert may_create is False


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("ALTER TABLE notification.templates NO FORCE ROW LEVEL SECURITY", "notification.templates: row-level security"),
        ("ALTER TABLE chan.conversations DISABLE ROW LEVEL SECURITY", "chan.conversations: row-level security"),
        ("DROP POLICY tenant_isolation ON bff_backoffice.alert_ack_log", "bff_backoffice.alert_ack_log: has no tenant_isolation"),
        ("CREATE TABLE chan.forgotten (id text)", "chan.forgotten: has no tenant_id"),
        ("CREATE TABLE notification.forgotten (tenant_id text)", "notification.forgotten: row-level security"),
        ("CREATE POLICY wide ON notification.recipients TO tidings_runtime USING (true)", "policy wide shows every tenant"),
        ("CREATE POLICY wide ON notification.recipients USING (true)", "policy wide is for PUBLIC"),
        ("GRANT SELECT ON notification.notifications_standard TO tidings_runtime", "a partition is granted to tidings_runtime"),
        ("GRANT SELECT ON notification.recipients TO PUBLIC", "is granted to PUBLIC"),
        ("GRANT TRUNCATE ON notification.recipients TO tidings_runtime", "tidings_runtime has TRUNCATE"),
        ("GRANT SELECT ON notification.recipients TO tidings_worker", "notification.recipients: tidings_worker reads display_name_ciphertext"),
        ("GRANT SELECT (payload_ciphertext) ON notification.notification_scheduled TO tidings_platform", "tidings_platform reads payload_ciphertext"),
        ("GRANT UPDATE ON chan.delivery_attempts TO tidings_runtime", "is append-only and tidings_runtime has UPDATE"),
        ("CREATE VIEW notification.everything AS SELECT * FROM notification.recipients", "notification.everything: is a view"),
        ("CREATE FUNCTION kernel.f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'", "a routine with its owner's rights"),
        ("CREATE FUNCTION kernel.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "a routine that others may call"),
        ("CREATE UNIQUE INDEX ux_names ON notification.channels (vendor) WHERE false", "notification.ux_names: a key of a tenant's table leads with vendor"),
        ("ALTER TABLE notification.channels ADD CHECK (vendor <> '')", "is not named by its kind"),
        ("GRANT UPDATE (notes) ON notification.suppressions TO tidings_breakglass", "break-glass has UPDATE"),
    ],
)  # fmt: skip
async def test_each_kind_of_damage_is_found(
    worker_database: TestDatabase, damage: str, complaint: str
) -> None:
    """The test above can fail: undo one protection, and it names the table."""
    async with worker_database.owner() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute(damage)

        found = await faults(connection)

        await transaction.rollback()
    assert any(complaint in fault for fault in found), found
