"""Fills the large tables as years of use would, so that the cost of one more can be compared."""

from collections.abc import Sequence
from typing import Final

import asyncpg

from tidings.kernel.ids import TenantId

#: Rows that one statement writes, about.
_STEP: Final = 200_000
#: Notifications to one person.
_EACH_PERSON: Final = 10

#: Ids that sort among real ones, each one's own; of moments in the month that has just begun, which is the month that new
#: ones go into, and in as many before it as are wanted.
_MADE: Final = f"""
(SELECT tenant_id, 'rcp_0' || upper(lpad(to_hex(n / {_EACH_PERSON}), 25, '0')) AS recipient_id,
        upper(lpad(to_hex(n), 25, '0')) AS ulid, i,
        date_trunc('month', now()) - i % $6::bigint * interval '1 month' + i * interval '100 microseconds' AS at
 FROM unnest($1::text[]) WITH ORDINALITY AS named (tenant_id, place)
 CROSS JOIN LATERAL (SELECT i, ($2::bigint + place - 1) * $5::bigint + i AS n
                     FROM generate_series($3::bigint, $4::bigint) AS i) AS numbered) AS made
"""
_NOTIFICATIONS: Final = f"""
INSERT INTO notification.notifications
    (tenant_id, id, retention_class, created_at, updated_at, expires_at, queued_at, dispatched_at, delivered_at, status,
     channel, final_channel, category, use_case, priority, locale, recipient_id, template_id, template_version_id,
     template_key, template_semver, variables_hash, variables_ciphertext, decision_trace, delivery_evidence)
SELECT tenant_id, 'ntf_0' || ulid, 'standard', at, at, at + interval '1 day', at, at, at, 'delivered',
       'email', 'email', 'transactional', 'txn', 'normal', 'en', recipient_id,
       'tpl_' || repeat('0', 26), 'tpv_' || repeat('0', 26), 'bench_order', '1.0.0', 'sha256:' || repeat('0', 64),
       decode(repeat('ab', 120), 'hex'), 't+;e+;r+;c+;q+;1.s+;1.e+;1.t+;1.r+;1.h+;1.a+;1.p+;1.f+;1.q+', 'accepted'
FROM {_MADE}
"""
_ROUTER_ATTEMPTS: Final = f"""
INSERT INTO chan.delivery_attempts
    (tenant_id, id, started_at, terminated_at, step_index, execution_id, channel, provider, status)
SELECT tenant_id, 'attempt_0' || ulid, at, at, 1, 'exec_0' || ulid, 'email', 'smtp', 'accepted' FROM {_MADE}
"""
_ATTEMPTS: Final = f"""
INSERT INTO notification.delivery_attempts
    (tenant_id, id, started_at, finished_at, attempt_number, notification_id, execution_id, router_attempt_id, channel,
     vendor, outcome)
SELECT tenant_id, 'dat_0' || ulid, at, at, 1, 'ntf_0' || ulid, 'exec_0' || ulid, 'attempt_0' || ulid, 'email', 'smtp',
       'accepted'
FROM {_MADE}
"""
_EXECUTIONS: Final = f"""
INSERT INTO chan.fallback_executions
    (tenant_id, id, started_at, terminated_at, notification_id, recipient_id, use_case, strategy, ladder_snapshot,
     final_channel, outcome, evidence)
SELECT tenant_id, 'exec_0' || ulid, at, at, 'ntf_0' || ulid, recipient_id, 'txn', 'FAILOVER', '[]', 'email', 'DELIVERED',
       'accepted'
FROM {_MADE}
"""
#: They are kept for a month.
_PROOFS: Final = f"""
INSERT INTO chan.delivery_outbox (tenant_id, notification_id, recipient_id, event_id, execution_id)
SELECT tenant_id, 'ntf_0' || ulid, recipient_id, 'evt_0' || ulid, 'exec_0' || ulid FROM {_MADE} WHERE i % $6::bigint = 0
"""
_PEOPLE: Final = f"""
INSERT INTO notification.recipients (tenant_id, id, identity_type, identity_id)
SELECT tenant_id, recipient_id, 'guest', 'stored-' || recipient_id FROM {_MADE} WHERE i % {_EACH_PERSON} = 0
"""
_ADDRESSES: Final = f"""
INSERT INTO notification.recipient_addresses
    (tenant_id, id, recipient_id, channel, address_hash, address_ciphertext, is_primary)
SELECT tenant_id, 'rad_0' || ulid, recipient_id, 'email', 'sha256:' || md5(ulid) || md5(recipient_id),
       decode(repeat('ab', 60), 'hex'), true
FROM {_MADE} WHERE i % {_EACH_PERSON} = 0
"""
_DATA_KEYS: Final = f"""
INSERT INTO kernel.data_keys (tenant_id, subject_id, version, wrapped_key, tenant_key_version)
SELECT tenant_id, recipient_id, 1, decode(repeat('ab', 60), 'hex'), 1 FROM {_MADE} WHERE i % {_EACH_PERSON} = 0
"""
_PROFILES: Final = f"""
INSERT INTO chan.recipient_profiles (tenant_id, id, recipient_id)
SELECT tenant_id, 'profile_0' || ulid, recipient_id FROM {_MADE} WHERE i % {_EACH_PERSON} = 0
"""
_COUNTERS: Final = """
INSERT INTO notification.counters (tenant_id, day, stripe, name, channel, category, n)
SELECT tenant_id, current_date - day::int, 0, name, 'email', category, 1000
FROM unnest($1::text[]) AS tenant_id CROSS JOIN generate_series(1, $6::bigint * 30) AS day
CROSS JOIN (VALUES ('accepted', 'transactional'), ('dispatched', 'transactional'), ('delivered', 'transactional'),
                   ('template', 'bench_order')) AS kind (name, category)
WHERE $3::bigint = 0 AND $2::bigint + $4::bigint + $5::bigint >= 0
"""
_STATEMENTS: Final = {
    "notification.notifications": _NOTIFICATIONS,
    "notification.delivery_attempts": _ATTEMPTS,
    "chan.delivery_attempts": _ROUTER_ATTEMPTS,
    "chan.fallback_executions": _EXECUTIONS,
    "chan.delivery_outbox": _PROOFS,
    "notification.recipients": _PEOPLE,
    "notification.recipient_addresses": _ADDRESSES,
    "kernel.data_keys": _DATA_KEYS,
    "chan.recipient_profiles": _PROFILES,
    "notification.counters": _COUNTERS,
}


async def settle(owner_url: str) -> None:
    """What the server would do in the next minutes anyway, and what must not be counted as the cost of a notification."""
    connection = await asyncpg.connect(owner_url, command_timeout=3600)
    try:
        await connection.execute("SET statement_timeout = 0")
        for table in _STATEMENTS:
            await connection.execute(f"VACUUM (ANALYZE) {table}")
    finally:
        await connection.close()


async def fill(url: str, tenant_ids: Sequence[TenantId], rows: int, *, months: int = 1) -> None:
    """So many notifications of each tenant and what belongs to them, over so many months; as the runtime role."""
    rows = -(-rows // _EACH_PERSON) * _EACH_PERSON
    together = max(1, _STEP // rows)
    connection = await asyncpg.connect(url, command_timeout=3600)
    try:
        await connection.execute("SET synchronous_commit = off")
        await connection.execute("SET statement_timeout = 0")
        for statement in _STATEMENTS.values():
            for place in range(0, len(tenant_ids), together):
                some = tenant_ids[place : place + together]
                for first in range(0, rows, _STEP):
                    async with connection.transaction():
                        await connection.execute(
                            "SELECT set_config('app.tenant_ids', $1, true)", ",".join(some)
                        )
                        last = min(first + _STEP, rows) - 1
                        await connection.execute(statement, some, place, first, last, rows, months)
    finally:
        await connection.close()
