"""The price model of an account, as it is stored with it."""

from functools import lru_cache

import msgspec

from tidings.contracts.prices import PrefixPrice, PriceModel
from tidings.kernel.logs import get_logger

__all__ = ["PrefixPrice", "PriceModel", "prices_text", "read_prices"]

#: A price that is not set, as the column has it.
NO_PRICES = "{}"

_decode = msgspec.json.Decoder(PriceModel).decode
_encode = msgspec.json.Encoder(order="deterministic").encode
_log = get_logger("prices")


@lru_cache(maxsize=4096)
def read_prices(stored: str) -> PriceModel | None:
    """The model in an account's row; None where no price is set."""
    if stored == NO_PRICES:
        return None
    try:
        return _decode(stored)
    except msgspec.MsgspecError:
        # Messages go on; what they cost is not known.
        _log.error("prices_unreadable")
        return None


def prices_text(prices: PriceModel | None) -> str:
    """The model for an account's row."""
    return NO_PRICES if prices is None else _encode(prices).decode()
