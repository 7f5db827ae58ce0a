"""Whether there is what a batch paces: a pace for an account that nothing goes through would hold nothing back."""

from collections.abc import Iterable, Mapping

from tidings.contracts.channel_configs import ChannelConfigs
from tidings.contracts.enums import AUTO
from tidings.kernel.db import TenantTx
from tidings.kernel.refusals import FieldError
from tidings.notify.batches.model import AccountRate, StoredBatch
from tidings.notify.channels.store import find_channels


async def unknown_paced(tx: TenantTx, configs: ChannelConfigs, batch: StoredBatch) -> list[FieldError]:
    """The vendors and accounts that it names and does not send through."""
    pacing = batch.pacing
    if pacing is None or not pacing.by_account:
        return []
    channels = await find_channels(tx, channels=None if batch.channel == AUTO else [batch.channel])
    vendors = sorted({vendor for channel in channels for vendor in channel.vendors})
    accounts = await configs.accounts(tx, vendors)
    ids = {f"{account.id} ({vendor})": account.id for vendor, account in accounts.items()}
    return [
        *_unknown("vendors", pacing.vendors, {vendor: vendor for vendor in vendors}, batch),
        *_unknown("accounts", pacing.accounts, ids, batch),
    ]


def _unknown(
    name: str, rates: Mapping[str, AccountRate], there: Mapping[str, str], batch: StoredBatch
) -> Iterable[FieldError]:
    known = set(there.values())
    what = (
        "one that the tenant sends through"
        if batch.channel == AUTO
        else f"one of the channel {batch.channel}"
    )
    told = f"there are {', '.join(sorted(there))}" if there else "there are none: set the channel up first"
    return [
        FieldError(f"pacing.{name}.{rate}", f"must be {what}; {told}") for rate in rates if rate not in known
    ]
