"""What the use cases of entered secrets need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.db import Database
from tidings.router.sealed_secrets.keep import SecretKeeper


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that entered secrets touch."""

    db: Database
    keeper: SecretKeeper
