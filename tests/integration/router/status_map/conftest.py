"""What these tests share: hooks, attempts to be told about, and the status map in front of them."""

from tests.integration.router.callbacks.conftest import (  # noqa: F401  # pytest finds them here
    other_tenant,
    world,
)
