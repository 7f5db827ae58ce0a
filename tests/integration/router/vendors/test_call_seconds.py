"""A policy's `call_seconds`: the time of one message, however large the set is that it goes out in."""

import re
from collections import Counter

from tests.support import played_http, played_smtp
from tests.support.ladders import EMAIL, SMS, LadderWorld, Worker
from tests.support.vendors import http_settings, smtp_settings
from tidings.router.policies.model import PolicyStep

MANY = 25
ANSWER = played_http.SLOW + played_http.answer("200 OK", b'{"id": "v-1"}')


async def test_a_large_set_is_not_cut_off_by_it(world: LadderWorld, worker: Worker) -> None:
    """The set takes more than twice as long as each message has; everybody is sent to, and once."""
    step = PolicyStep(channel="sms", deadline_seconds=60, call_seconds=1.0, success="accepted")
    async with played_http.played_http(ANSWER) as vendor:
        await world.account("http", http_settings(vendor.port, connections=1))
        await world.policy("otp", step)
        wishes = [world.begin(SMS, to=f"+9370000{n:04}", use_case="otp", channel="auto") for n in range(MANY)]
        await worker.send(world.tenant_id, wishes)

    keys = Counter(key for head, _ in vendor.heard for key in re.findall(r"Idempotency-Key: (\S+)", head))
    assert sorted(keys.values()) == [1] * MANY
    assert Counter(outcome.result for outcome in await world.outcomes()) == {"DELIVERED": MANY}


async def test_nor_is_one_of_mails(world: LadderWorld, worker: Worker) -> None:
    """The same through a mail server."""
    slow = {".": played_smtp.SLOW + played_smtp.USUAL["."]}
    step = PolicyStep(channel="email", deadline_seconds=60, call_seconds=1.0, success="accepted")
    async with played_smtp.played_smtp(slow) as server:
        await world.account("smtp", smtp_settings(server.port, connections=1))
        await world.policy("otp", step)
        wishes = [world.begin(EMAIL, use_case="otp", channel="auto") for _ in range(MANY)]
        await worker.send(world.tenant_id, wishes)

    assert len(server.messages) == MANY
    assert Counter(outcome.result for outcome in await world.outcomes()) == {"DELIVERED": MANY}
