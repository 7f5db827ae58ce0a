"""Where the upstream services are, how they know us, and how long we wait."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from tidings.backoffice.upstreams.names import UPSTREAMS, UpstreamName

_NAME_PLACE: Final = "{upstream}"


@dataclass(slots=True, kw_only=True)
class UpstreamPlaces:
    """What the settings say; `tidings up` adds its simulator where they say nothing."""

    urls: dict[UpstreamName, str] = field(default_factory=dict)
    #: The reference of the bearer token; `{upstream}` in it stands for the service's name.
    token_ref: str | None = None
    timeout: timedelta = timedelta(seconds=2)

    @classmethod
    def of(
        cls,
        base: str | None,
        urls: Mapping[UpstreamName, str | None],
        *,
        token_ref: str | None,
        timeout: timedelta,
    ) -> "UpstreamPlaces":
        """`base`: the address under which all of them are found by their names; one of its own goes before it."""
        return cls(
            urls={
                name: url
                for name in UPSTREAMS
                if (url := urls.get(name) or (f"{base.rstrip('/')}/{name}" if base else None))
            },
            token_ref=token_ref,
            timeout=timeout,
        )

    def token_ref_of(self, upstream: UpstreamName) -> str | None:
        """The reference of its token."""
        return self.token_ref.replace(_NAME_PLACE, upstream) if self.token_ref else None

    def add(self, base: str) -> bool:
        """Find all of them under this address, where none was set; whether that is so."""
        if self.urls:
            return False
        self.urls.update({name: f"{base.rstrip('/')}/{name}" for name in UPSTREAMS})
        return True
