"""The worlds that seeds make: whatever can happen to a message does happen in some of them."""

from collections import Counter

from tests.simulation.pure.rules import Rules
from tests.simulation.pure.run import Run
from tests.simulation.story import Story

_SEEDS = 1_000


def test_everything_happens_somewhere() -> None:
    found: Counter[str] = Counter()
    for seed in range(1, _SEEDS + 1):
        story = Story(on=True)
        seen = Run(seed, Rules(), story).go()
        found.update(one.status for one in seen.told)
        found.update(one.result for one in seen.outcomes)
        found.update(f"evidence {one.evidence}" for one in seen.outcomes)
        found.update(f"gate {one.answer}" for one in seen.asks)
        found.update(one.reason for one in seen.told if one.status == "step_skipped" and one.reason)
        found.update(f"receipt {one.status}, {'live' if one.live else 'late'}" for one in seen.receipts)
        found[seen.strategy] += 1
        found["not made"] += len(seen.not_made)
        found["called off"] += len(seen.needless or ())
        found["given up"] += len(seen.given_up)
        text = str(story)
        for sentence in (
            "dies.",
            "is taken for dead",
            "has lost its claim",
            "has missed the news",
            "does not learn that this was committed",
            "vendor_limit until",
            "refuses and delivers",
            "contradicts itself",
        ):
            found[sentence] += sentence in text

    expected = {
        *("SEQUENTIAL", "PARALLEL", "FAILOVER"),
        *("DELIVERED", "FAILED", "REFUSED_NO_CHANNEL", "REFUSED_COST_CAP", "REFUSED_CONSENT"),
        *("evidence accepted", "evidence sent", "evidence delivered", "evidence read"),
        *("accepted", "failed_temp", "failed_perm", "rejected_by_provider", "timed_out", "step_skipped"),
        *("gate ready", "gate skip", "gate wait", "gate ends"),
        *("address_refused", "circuit_open", "condition_hours", "condition_prefix", "cost_cap", "no_route"),
        *("receipt delivered, live", "receipt delivered, late", "receipt bounced, live"),
        *("not made", "called off", "given up"),
    }
    assert not {one for one in expected if not found[one]}
    assert not {one for one, times in found.items() if not times}


def test_a_seed_is_always_the_same_world() -> None:
    """Down to every event, so that a failure can be looked at again."""
    stories = []
    for _ in range(2):
        story = Story(on=True)
        Run(17, Rules(), story).go()
        stories.append(str(story))

    assert stories[0] == stories[1]
    assert len(stories[0].splitlines()) > 3
