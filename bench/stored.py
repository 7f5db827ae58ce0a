"""Fills the large tables as years of use would, so that the cost of one more can be compared."""

import asyncpg

from tidings.kernel.ids import TenantId

_STEP = 50_000

#: Ids that sort among real ones, of moments in the month that has just begun, which is the month that new ones go into, and
#: in as many before it as are wanted.
_NOTIFICATIONS = """
INSERT INTO notification.notifications
    (tenant_id, id, retention_class, created_at, updated_at, expires_at, queued_at, dispatched_at, delivered_at, status,
     channel, final_channel, category, use_case, priority, locale, recipient_id, template_id, template_version_id,
     template_key, template_semver, variables_hash, variables_ciphertext, decision_trace, delivery_evidence)
SELECT $1, 'ntf_0' || upper(lpad(to_hex(i), 25, '0')), 'standard', at, at, at + interval '1 day', at, at, at, 'delivered',
       'email', 'email', 'transactional', 'txn', 'normal', 'en', 'rcp_0' || upper(lpad(to_hex(i % 100000), 25, '0')),
       'tpl_' || repeat('0', 26), 'tpv_' || repeat('0', 26), 'bench_order', '1.0.0', 'sha256:' || repeat('0', 64),
       decode(repeat('ab', 120), 'hex'), 't+;e+;r+;c+;q+;1.s+;1.e+;1.t+;1.r+;1.h+;1.a+;1.p+;1.f+;1.q+', 'accepted'
FROM (SELECT i, date_trunc('month', now()) - i % $4::bigint * interval '1 month' + i * interval '100 microseconds' AS at
      FROM generate_series($2::bigint, $3::bigint) AS i) AS made
"""
_ATTEMPTS = """
INSERT INTO chan.delivery_attempts
    (tenant_id, id, started_at, terminated_at, step_index, execution_id, channel, provider, status)
SELECT $1, 'attempt_0' || upper(lpad(to_hex(i), 25, '0')), at, at, 1, 'exec_0' || upper(lpad(to_hex(i), 25, '0')), 'email',
       'smtp', 'accepted'
FROM (SELECT i, date_trunc('month', now()) - i % $4::bigint * interval '1 month' + i * interval '100 microseconds' AS at
      FROM generate_series($2::bigint, $3::bigint) AS i) AS made
"""
_EXECUTIONS = """
INSERT INTO chan.fallback_executions
    (tenant_id, id, started_at, terminated_at, notification_id, recipient_id, use_case, strategy, ladder_snapshot,
     final_channel, outcome, evidence)
SELECT $1, 'exec_0' || upper(lpad(to_hex(i), 25, '0')), at, at, 'ntf_0' || upper(lpad(to_hex(i), 25, '0')),
       'rcp_0' || upper(lpad(to_hex(i % 100000), 25, '0')), 'txn', 'FAILOVER', '[]', 'email', 'DELIVERED', 'accepted'
FROM (SELECT i, date_trunc('month', now()) - i % $4::bigint * interval '1 month' + i * interval '100 microseconds' AS at
      FROM generate_series($2::bigint, $3::bigint) AS i) AS made
"""
_PROOFS = """
INSERT INTO chan.delivery_outbox (tenant_id, notification_id, recipient_id, event_id, execution_id)
SELECT $1, 'ntf_0' || upper(lpad(to_hex(i), 25, '0')), 'rcp_0' || upper(lpad(to_hex(i % 100000), 25, '0')),
       'evt_0' || upper(lpad(to_hex(i), 25, '0')), 'exec_0' || upper(lpad(to_hex(i), 25, '0'))
FROM generate_series($2::bigint, $3::bigint) AS i WHERE $4::bigint > 0
"""


async def settle(owner_url: str) -> None:
    """What the server would do in the next minutes anyway, and what must not be counted as the cost of a notification."""
    connection = await asyncpg.connect(owner_url, command_timeout=300)
    try:
        await connection.execute("SET statement_timeout = 0")
        for table in (
            "notification.notifications",
            "chan.delivery_attempts",
            "chan.fallback_executions",
            "chan.delivery_outbox",
        ):
            await connection.execute(f"VACUUM (ANALYZE) {table}")
    finally:
        await connection.close()


async def fill(url: str, tenant_id: TenantId, rows: int, *, months: int = 1) -> None:
    """So many rows in each of the tables that only grow, over so many months; as the runtime role, for one tenant."""
    connection = await asyncpg.connect(url, command_timeout=300)
    try:
        for statement in (_NOTIFICATIONS, _ATTEMPTS, _EXECUTIONS, _PROOFS):
            for first in range(0, rows, _STEP):
                async with connection.transaction():
                    await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
                    await connection.execute("SET LOCAL statement_timeout = 0")
                    await connection.execute(
                        statement, tenant_id, first, min(first + _STEP, rows) - 1, months
                    )
    finally:
        await connection.close()
