"""The port to what reads and tries texts, as it is inside a child process."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tidings.notify.render.model import Rendered, RenderFailed, RenderJob


class Tools(Protocol):
    """Reads and tries what tenants write; its caller is in a child process too."""

    def parse(self, source: str) -> Mapping[str, Any]:
        """`{"tree"}` or `{"error"}`."""
        ...

    def render(self, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        """One result for each job, in their order."""
        ...
