"""What a message will cost with an account, before it is sent."""

from typing import Final

from tidings.contracts.messages import OutboundMessage
from tidings.contracts.sms_segments import measure
from tidings.router.prices.model import PrefixPrice, PriceModel

#: Characters that are spoken in a minute: slow enough for digits.
_SPOKEN_A_MINUTE: Final = 600
_AS_ALL: Final = PrefixPrice()


def price_of(model: PriceModel | None, message: OutboundMessage) -> int:
    """Micros in the model's currency; 0 where no price is known."""
    if model is None:
        return 0
    return price_of_text(model, message.channel, to=message.to, text=message.text or "")


def price_of_text(model: PriceModel, channel: str, *, to: str, text: str) -> int:
    """The same for a text that is no message yet; `to` may be a prefix alone."""
    apart = (prefix_price(model, to) if model.by_prefix else None) or _AS_ALL
    micros = _first(apart.base_micros, model.base_micros)
    if channel == "sms":
        each = _first(apart.per_segment_micros, model.per_segment_micros)
        if each:
            micros += each * measure(text).segments
    elif channel == "voice":
        each = _first(apart.per_minute_micros, model.per_minute_micros)
        if each:
            micros += each * minutes(text)
    return micros


def prefix_price(model: PriceModel, to: str) -> PrefixPrice | None:
    """The price of the longest prefix that the number begins with."""
    if not to.startswith("+"):
        return None
    by_prefix = model.by_prefix
    for end in range(min(len(to), 16), 1, -1):
        found = by_prefix.get(to[:end])
        if found is not None:
            return found
    return None


def minutes(text: str) -> int:
    """Minutes that are begun when a text is read out, twice, as calls with codes do; at least one."""
    return max(1, -(-2 * len(text) // _SPOKEN_A_MINUTE))


def _first(apart: int | None, general: int) -> int:
    return general if apart is None else apart
