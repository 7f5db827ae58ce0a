"""What the use cases of vendor accounts need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.channel_configs.keep import AccountKeeper


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that vendor accounts touch."""

    db: Database
    clock: Clock
    configs: AdapterConfigs
    keeper: AccountKeeper
    #: Where vendors find us; None where nobody has said so.
    public_url: str | None = None
