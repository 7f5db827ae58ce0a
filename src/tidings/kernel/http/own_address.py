"""Where this installation is found from outside."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAddress:
    """The addresses under which we are called."""

    #: Where vendors and people find us; None where no setting says so.
    public_url: str | None
    #: Hosts of our own addresses, for links and assets.
    hosts: tuple[str, ...] = ()
