"""Every job of a worker belongs to one service, to the kernel, or to both; a process of one service has no job of the other."""

from tests.support.local_requests import LocalRequests
from tests.support.postgres import TestDatabase
from tests.support.system import services_over, system_over
from tidings.bootstrap.services import BOTH, Service

#: What every worker has for itself, and what both services do side by side.
SHARED = {
    "bus",
    "partitions",
    "audit_anchors",
    "flags",
    "presence",
    "sweepers",
    "requests",
    "system_alerts",
}


def jobs(database: TestDatabase, *services: Service) -> set[str]:
    return set(services_over(database, services or BOTH, LocalRequests()).jobs())


async def test_the_jobs_of_both_are_those_of_each(worker_database: TestDatabase) -> None:
    notify, router = jobs(worker_database, "notify"), jobs(worker_database, "router")
    assert notify & router == SHARED
    assert notify | router == jobs(worker_database)
    assert {"dispatch", "schedule", "outcomes", "receipts", "relay_notification"} <= notify - router
    assert {"due", "callbacks", "conversations", "relay_chan", "dispatch_requests"} <= router - notify


async def test_without_a_broker_one_process_has_no_job_for_others(worker_database: TestDatabase) -> None:
    alone = set(system_over(worker_database).jobs())
    assert jobs(worker_database) - alone == {
        "requests",
        "dispatch_requests",
        "urgent_dispatch_requests",
    }


async def test_sweeps_are_of_the_own_schema(worker_database: TestDatabase) -> None:
    def sweeps(*services: Service) -> set[str]:
        system = services_over(worker_database, services or BOTH, LocalRequests())
        return set(system.jobs()["sweepers"]._sweepers)  # type: ignore[attr-defined]

    notify, router = sweeps("notify"), sweeps("router")
    assert notify & router == {"dead_letters", "hot_state", "consumed_events", "processes"}
    assert notify | router == sweeps()
    assert {"untaken_hand_overs", "idempotency_keys", "missed_outcomes"} <= notify
    assert {"delivery_ledgers", "callback_requests"} <= router
