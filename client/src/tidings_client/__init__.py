"""A typed client: `Tidings` for ordinary code, `AsyncTidings` for asyncio. It knows the API and nothing of the server."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tidings_client.errors import (
    ClientError,
    ConflictError,
    NotAllowedError,
    NotDoneError,
    NotFoundError,
    NotReachedError,
    ProblemError,
    RefusedError,
    StrangeAnswerError,
    TooBusyError,
    UnauthenticatedError,
    UnavailableError,
)
from tidings_client.messages import Address, Attachment, Identity, Message, Recipient
from tidings_client.results import (
    Accepted,
    Attempt,
    Body,
    Bulk,
    BulkItem,
    Counters,
    Explanation,
    FieldProblem,
    GateLine,
    Happening,
    Notification,
    Page,
    Problem,
    Simulation,
)
from tidings_client.retrying import Retries

if TYPE_CHECKING:
    from tidings_client.api.asynchronous import AsyncTidings
    from tidings_client.synchronous import Tidings

__all__ = [
    "Accepted",
    "Address",
    "AsyncTidings",
    "Attachment",
    "Attempt",
    "Body",
    "Bulk",
    "BulkItem",
    "ClientError",
    "ConflictError",
    "Counters",
    "Explanation",
    "FieldProblem",
    "GateLine",
    "Happening",
    "Identity",
    "Message",
    "NotAllowedError",
    "NotDoneError",
    "NotFoundError",
    "NotReachedError",
    "Notification",
    "Page",
    "Problem",
    "ProblemError",
    "Recipient",
    "RefusedError",
    "Retries",
    "Simulation",
    "StrangeAnswerError",
    "Tidings",
    "TooBusyError",
    "UnauthenticatedError",
    "UnavailableError",
]


def __getattr__(name: str) -> Any:
    """Import either client when it is first used: it brings httpx2 along, which the rest of the package can do without."""
    module = {"AsyncTidings": "api.asynchronous", "Tidings": "synchronous"}.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
