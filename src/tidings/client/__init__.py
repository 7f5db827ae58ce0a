"""The typed client, under the name that the server's own distribution gives it; it lives in `tidings-client`."""

from tidings_client import *  # noqa: F403
from tidings_client import __all__ as __all__
