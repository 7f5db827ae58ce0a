"""What receipts teach when all is over does not depend on which of them is heard first."""

from itertools import permutations

from tests.support.ladders import LadderWorld, Worker
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.delivery import DeliveryRoute
from tidings.router.profiles import store as profiles
from tidings.router.profiles.model import Profile

WHATSAPP = DeliveryRoute(channel="whatsapp", vendor="http_whatsapp")


async def learned(world: LadderWorld, worker: Worker, told: tuple[Canonical, ...]) -> Profile:
    """What is known of somebody new after these receipts of one message that a vendor took."""
    wish = world.begin(WHATSAPP, to="+93700000001", channel="whatsapp")
    await worker.send(world.tenant_id, [wish])
    [attempt] = await world.rows(
        "SELECT made.* FROM chan.delivery_attempts AS made "
        "JOIN chan.fallback_executions AS ended ON ended.id = made.execution_id "
        f"WHERE ended.notification_id = '{wish.hand_off.notification_id}'"
    )
    for status in told:
        await world.hear(worker, attempt, status)
    async with world.db.tenant(world.tenant_id) as tx:
        found = await profiles.load(tx, [wish.hand_off.recipient_id])
    return found[wish.hand_off.recipient_id]


async def test_what_came_back_after_it_had_arrived_counts_for_both(
    world: LadderWorld, worker: Worker
) -> None:
    await world.vendor("http_whatsapp")
    told: tuple[Canonical, ...] = ("delivered", "delivered_read", "bounced")
    for order in permutations(told):
        profile = await learned(world, worker, order)

        score = profile.channels["whatsapp"]
        assert (score.observations, score.posterior.a, score.posterior.b) == (2, 2.0, 2.0), order
        # It did arrive once: nobody can say that they are not there.
        assert profile.has_whatsapp_business == "KNOWN_YES", order


async def test_what_is_said_twice_is_learned_once(world: LadderWorld, worker: Worker) -> None:
    await world.vendor("http_whatsapp")

    profile = await learned(world, worker, ("bounced", "rejected_by_recipient"))

    score = profile.channels["whatsapp"]
    assert (score.observations, score.posterior.b) == (1, 2.0)
    assert profile.has_whatsapp_business == "KNOWN_NO"
