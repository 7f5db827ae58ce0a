"""Every alert rule that we ship fires when what it is about happens: in the real system, evaluated over its real metrics."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.integration.pipeline.test_digests import gathered, somebody
from tests.integration.pipeline.test_missed_outcomes import send_and_lose_the_outcome, sweeper
from tests.support.activity import a_request, an_activity, no_blobs
from tests.support.alert_rules import RULES
from tests.support.apart import apart
from tests.support.pipeline import PipelineWorld, pipeline_world, prepared_database
from tests.support.postgres import TestServer
from tests.support.promql import Scrape, evaluate
from tests.support.tampering import tampering
from tidings import settings
from tidings.backoffice.activity.record import ActivityRecorder
from tidings.backoffice.activity.store import insert_activity
from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.upstreams.client import Upstreams
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.bootstrap import System
from tidings.bootstrap.health import watch_app
from tidings.bootstrap.kernel_observers import BusMetrics
from tidings.contracts.callback_forms import ParsedCallback, ReadEvent, ReadInbound
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.bus import Subscription
from tidings.kernel.bus_url import open_bus
from tidings.kernel.db import Database
from tidings.kernel.durable.claims import ClaimingJob
from tidings.kernel.durable.job_watch import LATE
from tidings.kernel.durable.jobs import run_jobs
from tidings.kernel.errors import DegradedError
from tidings.kernel.journal.journal import Journal
from tidings.kernel.nats_bus.address import parse_address
from tidings.kernel.nats_bus.connection import NatsConnection
from tidings.kernel.nats_bus.outside_subjects import NatsOutsideSubjects
from tidings.kernel.secrets import Secret
from tidings.notify.ids import EVENT_SUBSCRIPTION
from tidings.router.accounts.model import StoredAccount
from tidings.router.accounts.store import find_accounts
from tidings.router.conversations.jobs import ConversationJob
from tidings.router.state_machine.model import ATTEMPT

pytestmark = pytest.mark.xdist_group("alerts")

SECRET = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ="


class Watched:
    """The system, and a Prometheus that looks at it each minute."""

    def __init__(self, world: PipelineWorld) -> None:
        self.world = world
        self.system = world.system
        self.scrapes: list[Scrape] = []
        #: What ends the condition.
        self.endings: list[Callable[[], Awaitable[None]]] = []
        self._watch = watch_app(self.system)
        self._at = 0.0

    async def scrape(self) -> None:
        """As Prometheus does it, at the worker's port."""
        transport = httpx2.ASGITransport(app=self._watch)
        async with httpx2.AsyncClient(transport=transport, base_url="http://watched") as client:
            text = (await client.get("/metrics")).text
        self._at += 60.0
        self.scrapes.append(Scrape(at=self._at, text=text))

    def firing(self, alert: str) -> bool:
        return bool(evaluate(RULES[alert]["expr"], self.scrapes))

    async def account(self) -> StoredAccount:
        """The platform's account over HTTP."""
        async with self.system.db.platform() as tx:
            return next(one for one in await find_accounts(tx) if one.vendor == "http")

    async def hear(self, *said: ReadInbound | ReadEvent) -> None:
        """A vendor tells."""
        events = [one for one in said if isinstance(one, ReadEvent)]
        inbound = [one for one in said if isinstance(one, ReadInbound)]
        await self.system.callbacks.hear(await self.account(), ParsedCallback(events=events, inbound=inbound))

    @property
    def conversations(self) -> ConversationJob:
        job = self.system.conversations.job
        assert isinstance(job, ConversationJob)
        return job

    async def run_until(self, jobs: dict[str, Any], condition: Callable[[], bool]) -> None:
        """Run these jobs, as a worker does, until that is so."""
        stop = asyncio.Event()
        running = asyncio.create_task(
            run_jobs(jobs, stop, self.system.kernel.metrics, watch=self.system.kernel.job_watch)
        )
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0.02)
        stop.set()
        await running

    def value(self, name: str, **labels: str) -> float:
        return self.system.kernel.metrics.registry.get_sample_value(name, labels) or 0.0


def wrote(number: int, to: str = "+15005550006") -> ReadInbound:
    return ReadInbound(
        vendor_message_id=f"in-{to}-{number}",
        channel="sms",
        sender=f"+9370123{number:04}",
        to=to,
        text="hello",
        occurred_at=None,
    )


@pytest.fixture(scope="module")
async def world(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PipelineWorld]:
    """A database of its own: what is done to it here, nobody else should see."""
    now = datetime.now(UTC)
    folder = tmp_path_factory.mktemp("alerts")
    async with (
        prepared_database(server, folder, now, now + timedelta(days=62)) as prepared,
        pipeline_world(prepared, now) as made,
    ):
        yield made


@pytest.fixture
async def watched(world: PipelineWorld) -> Watched:
    """It has been looked at once, when nothing was wrong."""
    made = Watched(world)
    await made.system.kernel.bus.backlog.look()
    await made.scrape()
    return made


async def partition_missing(watched: Watched) -> None:
    """The place for audit rows of a month ahead is gone, and this process may not make one."""
    async with watched.world.database.owner() as owner:
        name = await owner.fetchval(
            "SELECT inhrelid::regclass::text FROM pg_inherits "
            "WHERE inhparent = 'notification.audit'::regclass ORDER BY inhrelid::regclass::text DESC LIMIT 1"
        )
        await owner.execute(f"DROP TABLE {name}")
    helpless = System(
        watched.system.settings, runtime_url=watched.world.database.runtime_url, clock=watched.system.clock
    )
    watched.system.kernel.metrics = helpless.kernel.metrics
    await helpless.kernel.partitions.run_once()
    watched._watch = watch_app(helpless)


async def relay_lagging(watched: Watched) -> None:
    """A minute ago something was announced, and nobody has carried it on."""
    async with watched.world.sender() as sender:
        await sender.send()
    async with watched.world.unguarded("notification.outbox") as owner:
        await owner.execute("UPDATE notification.outbox SET enqueued_at = now() - interval '1 minute'")
    await watched.system.kernel.bus.backlog.look()


async def group_behind(watched: Watched) -> None:
    """Ten minutes ago something came to the bus, and a group has not read it."""
    consumer = watched.system.consumers.outcomes
    await consumer.drain()
    async with watched.world.sender() as sender:
        await sender.send()
    for relay in watched.world.relays:
        await relay.drain()
    async with watched.world.unguarded("kernel.bus_events") as owner:
        await owner.execute(
            "UPDATE kernel.bus_events SET published_at = published_at - interval '10 minutes'"
        )
    await watched.system.kernel.bus.backlog.look()


async def nats_away(watched: Watched) -> None:
    """The bus is on NATS, and nobody answers there."""
    system = watched.system
    bus = open_bus(
        Secret("nats://127.0.0.1:1"),
        system.kernel.runtime_url,
        system.db,
        clock=system.clock,
        observer=BusMetrics(system.kernel.metrics),
    )
    with pytest.raises(DegradedError):
        await bus.check()

    async def end() -> None:
        await bus.close()
        system.kernel.metrics.bus_degraded.set(0)

    watched.endings.append(end)


async def subscription_troubled(watched: Watched) -> None:
    """Events are to be read from a broker that nobody reaches."""
    system, stop = watched.system, asyncio.Event()
    connection = NatsConnection(parse_address(Secret("nats://127.0.0.1:1")))
    async with system.db.platform() as tx:
        await tx.connection.execute(
            "INSERT INTO notification_platform.event_subscriptions "
            "(id, name, subject, is_test, may_erase, enabled, version, created_at, updated_at) "
            "VALUES ($1, 'away', 'pms.a', false, false, true, 1, now(), now())",
            EVENT_SUBSCRIPTION.new(system.clock.now()),
        )
    reading = asyncio.create_task(system.events.readers(NatsOutsideSubjects(connection)).run(stop))

    async def end() -> None:
        stop.set()
        await reading
        await connection.close()
        async with system.db.platform() as tx:
            await tx.connection.execute("DELETE FROM notification_platform.event_subscriptions")

    watched.endings.append(end)
    troubled = system.access.metrics.event_subscriptions_troubled
    async with asyncio.timeout(60):
        while troubled._value.get() == 0:
            await asyncio.sleep(0.02)


async def dead_letters(watched: Watched) -> None:
    """A group's handler fails at an event until it is given up."""

    async def fail(*_: object) -> None:
        raise LookupError

    group = watched.system.kernel.bus.consumer(
        Subscription(
            group="test.failing",
            subjects=("notification.queued.v1",),
            ledger="notification",
            on_tenant_events=fail,
        )
    )
    await group.register()
    await watched.system.kernel.bus.backlog.look()
    await watched.scrape()
    async with watched.world.sender() as sender:
        await sender.send()
    for _ in range(100):
        for relay in watched.world.relays:
            await relay.drain()
        await group.drain()
        if watched.value("tidings_bus_dead_letters_total", group="test.failing"):
            return
        await watched.world.clock.advance(timedelta(hours=1))


async def callbacks_waiting(watched: Watched) -> None:
    """A vendor told something two minutes ago; only now somebody looks."""
    now = watched.system.clock.now()
    told = ReadEvent(
        vendor_message_id="m-1", word="delivered", status="delivered", occurred_at=now, discriminator="1"
    )
    await watched.hear(told)
    await watched.world.clock.advance(timedelta(minutes=2))
    await watched.system.callbacks.job.turn()


async def callbacks_refused(watched: Watched) -> None:
    """A vendor's calls are not proven."""
    account = await watched.account()
    file = watched.system.settings.secrets_dir() / "http.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "callback_secret": SECRET}))
    await watched.world.clock.advance(timedelta(minutes=5))
    async with watched.world.http.client() as client:
        for number in range(30):
            if number == 5:
                await watched.scrape()
            refused = await client.post(
                f"/hooks/http/{account.id}", json={"id": "m-1", "status": "delivered"}
            )
            assert refused.status_code == 401, refused.text


async def receipts_unreadable(watched: Watched) -> None:
    """An SMSC writes a receipt as nobody else does, after others that could be read."""
    account = await watched.account()
    await watched.hear(wrote(1, to="+15005550111"))
    await watched.scrape()
    await watched.system.callbacks.hear(account, ParsedCallback(unread=[b"00,0210021543,,447887123456"]))


async def bounces_unreadable(watched: Watched) -> None:
    """A mail server words its bounces in a way of its own."""
    async with watched.system.db.platform() as tx:
        account = next(one for one in await find_accounts(tx) if one.vendor == "smtp")
    for number in range(30):
        if number == 5:
            await watched.scrape()
        token = watched.system.router.return_tokens.write(account.id, ATTEMPT.new(watched.world.clock.now()))
        mail = f"To: {token}@bounces.acme.test\r\n\r\nIt did not work.\r\n".encode()
        assert await watched.system.callbacks.bounces.take(mail, via="lmtp") == "unreadable"


async def inbound_unmatched(watched: Watched) -> None:
    """A hundred people, or one machine, write to a number that is nobody's."""
    await watched.hear(*(wrote(number, to="+15005550999") for number in range(110)))
    for _ in range(20):
        await watched.conversations.drain()
        await watched.world.clock.advance(timedelta(hours=1))


async def inbound_dead(watched: Watched) -> None:
    """What somebody wrote can't be read any more."""
    await watched.hear(wrote(1, to="+15005550111"))
    async with watched.world.unguarded("chan.inbound_messages") as owner:
        await owner.execute(
            "UPDATE chan.inbound_messages SET payload_ciphertext = '\\x00' WHERE status = 'queued'"
        )
    await watched.conversations.drain()


async def webhook_dead(watched: Watched) -> None:
    """A tenant's webhook is away for days."""
    system = watched.system
    secrets = system.settings.secrets_dir()
    async with watched.world.sender() as sender:
        (secrets / sender.tenant_id).mkdir(parents=True)
        (secrets / sender.tenant_id / "inbound").write_text(SECRET)
        (secrets / sender.tenant_id / "own").write_text(json.dumps({"url": "http://127.0.0.1:9/"}))
        async with system.db.tenant(sender.tenant_id) as tx:
            made = await system.router.adapter_configs.configure(
                tx, [ConfigureAccount(vendor="http", secret_ref="file://own")], actor="test"
            )
        route = {
            "inbound": "+15005550222",
            "webhook_url": "https://127.0.0.1:9/mo",
            "secret_ref": "file://inbound",
        }
        answer = await sender.client.post("/api/v1/router/inbound-routes", json=route)
        assert answer.status_code == 201, answer.text
        async with system.db.tenant(sender.tenant_id) as tx:
            own = next(one for one in await find_accounts(tx) if one.id == made["http"].id)
    await system.callbacks.hear(own, ParsedCallback(inbound=[wrote(2, to="+15005550222")]))
    deliveries = system.conversations.deliveries
    assert isinstance(deliveries, ClaimingJob)
    for _ in range(60):
        await watched.conversations.drain()
        await deliveries.drain()
        await watched.world.clock.advance(timedelta(hours=2))


async def audit_broken(watched: Watched) -> None:
    """Somebody who owns the database has changed a row of last month."""
    await watched.world.tenant()
    async with tampering(watched.world.database) as owner:
        await owner.execute("UPDATE notification.audit SET actor = 'nobody' WHERE seq = 1")
    await watched.world.clock.advance(timedelta(days=32))
    anchors = {"audit_anchors": watched.system.jobs()["audit_anchors"]}
    await watched.run_until(
        anchors, lambda: watched.value("tidings_audit_broken_total", log="notification") > 0
    )


async def job_falls(watched: Watched) -> None:
    """The database is away, and the relay can't go on."""
    away = System(
        settings.load({"TIDINGS_DATA_DIR": str(watched.world.folder)}),
        runtime_url="postgresql://tidings_runtime@127.0.0.1:9/nowhere",
    )
    watched.system.kernel.metrics = away.kernel.metrics
    watched._watch = watch_app(away)

    def failed(times: float) -> Callable[[], bool]:
        return lambda: watched.value("tidings_job_failures_total", job="relay_chan") >= times

    for times in (1, 6):
        await watched.run_until({"relay_chan": away.kernel.bus.relay("chan")}, failed(times))
        await watched.scrape()


async def job_stalled(watched: Watched) -> None:
    """A job's turn is due, and it does not take it."""
    stop = asyncio.Event()
    running = asyncio.create_task(
        run_jobs(
            {"partitions": watched.system.kernel.partitions},
            stop,
            watched.system.kernel.metrics,
            watch=watched.system.kernel.job_watch,
        )
    )
    # As soon as it waits: an hour passes, and another, and it waits on.
    async with asyncio.timeout(60):
        while watched.system.kernel.job_watch.overdue("partitions") <= LATE:
            await asyncio.sleep(0.02)
            await watched.world.clock.advance(timedelta(minutes=30))

    async def end() -> None:
        stop.set()
        await running

    watched.endings.append(end)


async def no_worker(watched: Watched) -> None:
    """Prometheus reaches an API and nothing else."""
    api = System(
        settings.load({"TIDINGS_DATA_DIR": str(watched.world.folder)}),
        runtime_url=watched.world.database.runtime_url,
    )
    watched._watch = watch_app(api)


async def circuit_open(watched: Watched) -> None:
    """Somebody holds a vendor's account."""
    account = await watched.account()
    async with watched.world.http.as_platform() as client:
        held = await client.post(
            f"/internal/v1/router/circuits/{account.id}/override", json={"state": "OPEN", "reason": "unpaid"}
        )
        assert held.status_code == 200, held.text
    await watched.system.vendors.traffic_job.look()
    await watched.scrape()
    async with watched.world.http.as_platform() as client:
        await client.delete(f"/internal/v1/router/circuits/{account.id}/override")


async def outcomes_missed(watched: Watched) -> None:
    """An outcome was announced, and has not arrived."""
    await sweeper(watched.world).sweep(100)
    async with watched.world.sender() as sender:
        await send_and_lose_the_outcome(sender, 1)
    await sweeper(watched.world).sweep(100)


async def digests_overdue(watched: Watched) -> None:
    """A window was due, and every flush of it fails."""
    world = watched.world
    async with world.sender() as sender:
        laila, _ = await somebody(sender, schedule={"academic": {"every": "minutes", "minutes": 1}})
        await gathered(world, sender, laila, "A-0")
        async with world.unguarded("notification.digest_windows") as owner:
            await owner.execute("UPDATE notification.digest_windows SET retry_at = now() + interval '1 day'")
        await world.clock.advance(timedelta(minutes=15))
        await watched.system.digests.flushing.drain()

    async def end() -> None:
        async with world.unguarded("notification.digest_windows") as owner:
            await owner.execute("UPDATE notification.digest_windows SET retry_at = NULL")
        await watched.system.digests.flushing.drain()

    watched.endings.append(end)


async def webhooks_overdue(watched: Watched) -> None:
    """Something has happened, and nobody calls the webhook that wants it."""
    world = watched.world
    await _webhook(world)
    await world.clock.advance(timedelta(minutes=15))
    await world.system.webhooks.sweeps()["webhooks_overdue"](1)

    async def end() -> None:
        await world.system.webhooks.deliveries.drain()
        await world.system.webhooks.sweeps()["webhooks_overdue"](1)

    watched.endings.append(end)


async def webhooks_disabled(watched: Watched) -> None:
    """An endpoint can't be reached."""
    # A worker has the counter from its start.
    await watched.scrape()
    await _webhook(watched.world)
    await watched.world.system.webhooks.deliveries.drain()


async def _webhook(world: PipelineWorld) -> None:
    """A webhook that leads nowhere, and something that it wants to hear."""
    tenant_id = await world.tenant()
    async with world.http.as_tenant(tenant_id) as client:
        wish = {"url": "https://nowhere.invalid/", "events": ["api_key.*.v1"], "disable_after": 1}
        made = await client.post("/api/v1/webhooks", json=wish)
        assert made.status_code == 201, made.text
        await client.post("/api/v1/api-keys", json={"name": "other", "scopes": ["webhooks:read"]})
    for relay in world.relays:
        await relay.drain()
    await world.system.webhooks.consumer.drain()


async def exports_fail(watched: Watched) -> None:
    """The blob store takes nothing."""
    job = watched.system.backoffice.ledgers.exports
    await watched.scrape()
    long_ago = watched.system.clock.now() - timedelta(days=3)
    async with watched.system.db.platform() as tx:
        await insert_activity(tx, [an_activity(None, long_ago)])
    whole, job.exporter = job.exporter, replace(job.exporter, blobs=no_blobs)
    assert not await job.run_once()
    job.exporter = whole


async def activity_missed(watched: Watched) -> None:
    """Neither the database nor the disk takes a row."""
    kernel, backoffice = watched.system.kernel, watched.system.backoffice
    full = Journal(Path("/proc/none"), kernel.kms, name=lambda: "full", monotonic=lambda: 0.0)
    away = Database("postgresql://nobody@127.0.0.1:1/none")
    pepper = backoffice.parts.get(OperatorPepper)
    recorder = ActivityRecorder(away, pepper, full, clock=kernel.clock, metrics=kernel.metrics)
    await watched.scrape()
    await recorder.note(a_request(None))


async def hand_overs_repeated(watched: Watched) -> None:
    """Notify has announced one from a process of its own, and no router has heard it."""
    world = watched.world
    sweep = world.system.dispatch.sweeps()["untaken_hand_overs"]
    # A worker has the counter from its start.
    await watched.scrape()
    # What other conditions have left in the queue goes before.
    await world.settle()
    async with apart(world) as split, split.sender() as sender:
        await sender.send()
        await split.notify.dispatch.job.drain()
    async with world.database.owner() as owner:
        await owner.execute("TRUNCATE notification.outbox")
    await world.clock.advance(timedelta(minutes=6))
    assert await sweep(100) == 1
    await world.settle()


async def upstream_away(watched: Watched) -> None:
    """A service of a hotel is not there."""
    backoffice = watched.system.backoffice
    backoffice.places.add("http://127.0.0.1:9/property")
    upstreams = backoffice.parts.get(Upstreams)
    tenant_id = await watched.world.tenant()
    for _ in range(3):
        for _ in range(2):
            with contextlib.suppress(UpstreamAwayError):
                await upstreams.call("housekeeping", "GET", "/v1/rooms", tenant_id=tenant_id)
        await watched.scrape()
    backoffice.places.urls.clear()


async def server_errors(watched: Watched) -> None:
    """Requests fail, because the database is away."""
    away = System(
        settings.load({"TIDINGS_DATA_DIR": str(watched.world.folder)}),
        runtime_url="postgresql://tidings_runtime@127.0.0.1:9/nowhere",
    )
    _, carried = await watched.world.http.key(await watched.world.tenant())
    watched._watch = watch_app(away)
    key = {"authorization": f"Bearer {carried}"}
    transport = httpx2.ASGITransport(app=away.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://tidings.test", headers=key) as client:
        for _ in range(2):
            answers = [await client.get("/api/v1/tenant") for _ in range(3)]
            await watched.scrape()
    assert {answer.status_code for answer in answers} == {503}


#: What each is about. One of them comes last, because what it does to the clock or the schema is not undone.
CONDITIONS: dict[str, Callable[[Watched], Awaitable[None]]] = {
    "TidingsRelayLagging": relay_lagging,
    "TidingsGroupBehind": group_behind,
    "TidingsNatsAway": nats_away,
    "TidingsEventSubscriptionTroubled": subscription_troubled,
    "TidingsCallbacksWaiting": callbacks_waiting,
    "TidingsCallbacksRefused": callbacks_refused,
    "TidingsReceiptsUnreadable": receipts_unreadable,
    "TidingsCircuitOpen": circuit_open,
    "TidingsOutcomesMissed": outcomes_missed,
    "TidingsDigestsOverdue": digests_overdue,
    "TidingsWebhooksOverdue": webhooks_overdue,
    "TidingsWebhooksDisabled": webhooks_disabled,
    "TidingsActivityMissed": activity_missed,
    "TidingsExportsFail": exports_fail,
    "TidingsHandOversRepeated": hand_overs_repeated,
    "TidingsInboundDead": inbound_dead,
    "TidingsBouncesUnreadable": bounces_unreadable,
    "TidingsInboundUnmatched": inbound_unmatched,
    "TidingsInboundWebhookDead": webhook_dead,
    "TidingsJobStalled": job_stalled,
    "TidingsNoWorker": no_worker,
    "TidingsJobFalls": job_falls,
    "TidingsUpstreamAway": upstream_away,
    "TidingsServerErrors": server_errors,
    "TidingsDeadLetters": dead_letters,
    "TidingsAuditBroken": audit_broken,
    "TidingsPartitionMissing": partition_missing,
}


@pytest.mark.parametrize("alert", [*CONDITIONS, *(RULES.keys() - CONDITIONS.keys())])
async def test_it_fires_when_that_happens_and_not_before(watched: Watched, alert: str) -> None:
    quiet = not watched.firing(alert)
    metrics = watched.system.kernel.metrics
    try:
        await CONDITIONS[alert](watched)
        await watched.scrape()
        assert watched.firing(alert), RULES[alert]["expr"]
    finally:
        watched.system.kernel.metrics = metrics
        for end in watched.endings:
            await end()
    # Without a worker that runs there is none before either.
    assert quiet or alert == "TidingsNoWorker"
