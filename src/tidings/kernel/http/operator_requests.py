"""Tells of every request of an operator, once its answer stands and before it is sent.

Who asks is known to whoever lets them in, which property it is about to whoever checks that, and why it was refused to
whoever answers: each notes it here, in the context of the request.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Final, Protocol

from tidings.kernel.clock import Clock
from tidings.kernel.http.asgi import App, Message, Receive, Scope, Send, header
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.resources import Declared
from tidings.kernel.request_notes import RequestNotes, taking_notes

#: In the scope of a request that a page of ours sends to the API in its own process.
OF_OWN_PAGE: Final = "tidings.of_own_page"
#: Where the endpoint says in a scope which operation it is, and with which values in its path.
DECLARED: Final = "tidings.declared"
PATH_VALUES: Final = "tidings.path_values"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRequest:
    """A request of an operator, and how it was answered."""

    caller: Caller
    operation: Declared
    path_values: Mapping[str, str]
    #: Where what was made is found, as the answer says.
    location: str | None
    query_string: bytes
    status: int
    #: Why it was refused.
    error_code: str | None
    #: The property that it is about, as far as the code behind it has checked one.
    property_id: str | None
    #: Until the answer stood.
    seconds: float
    #: A page of ours asks the API.
    of_own_page: bool
    #: A page that somebody has open asks itself anew.
    of_open_page: bool


class OperatorWitness(Protocol):
    """Writes down what operators do."""

    async def note(self, request: OperatorRequest) -> None:
        """Called before the answer is sent; it returns when the request is written down."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OperatorRequests:
    """A layer around all operations. Without a witness it does nothing."""

    app: App
    witness: OperatorWitness | None
    _: KW_ONLY
    clock: Clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.witness is None or scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        witness, started, told = self.witness, self.clock.monotonic(), False
        with taking_notes() as notes:

            async def telling(message: Message) -> None:
                nonlocal told
                if not told and message["type"] == "http.response.start":
                    told = True
                    request = _request(scope, notes, message, self.clock.monotonic() - started)
                    if request is not None:
                        await witness.note(request)
                await send(message)

            await self.app(scope, receive, telling)


def _request(scope: Scope, notes: RequestNotes, answer: Message, seconds: float) -> OperatorRequest | None:
    caller, operation = notes.operator, scope.get(DECLARED)
    if not isinstance(caller, Caller) or operation is None:
        return None
    location = next(
        (str(v, "latin-1") for k, v in answer.get("headers", ()) if k.lower() == b"location"), None
    )
    return OperatorRequest(
        caller=caller,
        operation=operation,
        path_values=scope.get(PATH_VALUES, {}),
        location=location,
        query_string=scope.get("query_string", b""),
        status=answer["status"],
        error_code=notes.error_code,
        property_id=notes.property_id,
        seconds=seconds,
        of_own_page=scope.get(OF_OWN_PAGE, False),
        of_open_page=header(scope, b"x-live") is not None,
    )
