"""One set for one adapter, under the clock that the adapter itself has named."""

import asyncio
from collections.abc import Sequence

from tidings.contracts.adapters import Adapter
from tidings.contracts.messages import OutboundMessage, Outcome, Unlearned
from tidings.kernel.logs import get_logger
from tidings.router.vendors.learned_outcomes import LearnedOutcomes, OnOutcome

_log = get_logger("vendors")
_SILENT = Unlearned(reason="the adapter did not come back in time")


async def hand_over(
    adapter: Adapter,
    messages: Sequence[OutboundMessage],
    *,
    within: float | None,
    on_outcome: OnOutcome = lambda _place, _outcome: None,
) -> Sequence[Outcome]:
    """One outcome each; of a set that was cut off, or that its adapter failed on, what was learned until then.

    `on_outcome` hears of each while the others are under way, as far as the adapter tells; of all of them at the end.
    """
    learned = LearnedOutcomes([_SILENT] * len(messages), on_outcome)
    outcomes: Sequence[Outcome] = learned
    try:
        async with asyncio.timeout(adapter.longest_send.total_seconds()):
            outcomes = await adapter.send(messages, within=within, learned=learned)
    except TimeoutError:
        unlearned = sum(isinstance(outcome, Unlearned) for outcome in learned)
        _log.warning("adapter_cut_off", adapter=adapter.name, messages=len(messages), unlearned=unlearned)
    except Exception as error:  # noqa: BLE001  # a mistake in one adapter must not lose what became of a set
        _log.error("adapter_fell", adapter=adapter.name, error=type(error).__name__)
    if len(outcomes) != len(messages):
        _log.error("adapter_miscounts", adapter=adapter.name)
        lost = Unlearned(reason="the adapter did not tell what became of each")
        return [lost] * len(messages)
    for place, outcome in enumerate(outcomes):
        learned.tell(place, outcome)
    return outcomes
