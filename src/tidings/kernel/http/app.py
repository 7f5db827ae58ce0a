"""Builds the application: layers from the outside in, problems for everything that goes wrong.

Request ids → one spelling of the path → other origins → body limit → the endpoint of the route. All layers are plain ASGI.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from opentelemetry import trace

from tidings.kernel.asyncapi import EventDocs, asyncapi_document
from tidings.kernel.clock import Clock
from tidings.kernel.http.asgi import App, ClientGoneError, Message, Receive, Scope, Send, respond
from tidings.kernel.http.body_limit import DEFAULT_LIMIT, BodyLimit
from tidings.kernel.http.callers import AccessGuard
from tidings.kernel.http.canonical import Canonical
from tidings.kernel.http.cors import AnyOrigin
from tidings.kernel.http.docs_page import backoffice_docs_resource, docs_resource
from tidings.kernel.http.endpoint import Endpoint
from tidings.kernel.http.errors import NoRouteError, WrongMethodError
from tidings.kernel.http.health import Check, health_resource
from tidings.kernel.http.openapi import document
from tidings.kernel.http.operator_requests import OperatorRequests, OperatorWitness
from tidings.kernel.http.problems import MEDIA_TYPE, answer
from tidings.kernel.http.request_ids import Answered, RequestIds, request_id_of
from tidings.kernel.http.resources import Declared, Resource
from tidings.kernel.http.routing import RouteTable
from tidings.kernel.http.sockets import SocketRoute, Sockets
from tidings.kernel.parts import Parts
from tidings.kernel.request_notes import note_refusal

TITLE = "Tidings"


class HttpApp:
    """The application, ready for a server."""

    def __init__(
        self, *, layers: App, describe: Callable[[], dict[str, Any]], routes: Sequence[Declared]
    ) -> None:
        self._layers = layers
        self._describe = describe
        #: Every declared route.
        self.routes = tuple(routes)

    @property
    def openapi(self) -> dict[str, Any]:
        """The document that `/openapi.json` serves."""
        return self._describe()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._layers(scope, receive, send)


def build_app(
    *,
    resources: Sequence[tuple[Parts, Sequence[Resource]]],
    guard: AccessGuard,
    clock: Clock,
    version: str,
    checks: Mapping[str, Check],
    render_metrics: Callable[[], bytes],
    description: str = "",
    tags: Sequence[str] = (),
    body_limit: int = DEFAULT_LIMIT,
    tracer: trace.Tracer | None = None,
    on_answer: Callable[[Answered], None] | None = None,
    ready_timeout: float = 2.0,
    events: EventDocs | None = None,
    sockets: Sequence[SocketRoute] = (),
    operator_witness: OperatorWitness | None = None,
) -> HttpApp:
    """The application over these resources, each with the parts that its handlers may name, and these WebSockets.

    `body_limit` is for routes that declare none; `tags` is the order of groups in the docs. `events` are those that
    `/asyncapi.json` describes. `operator_witness` is told of every request of an operator.
    """
    routes: list[Declared] = []
    endpoints: RouteTable[Endpoint] = RouteTable()
    limits: RouteTable[int] = RouteTable()
    open_routes: RouteTable[bool] = RouteTable()

    # Written when it is first asked for: it takes a third of a second, and a start should not wait for it.
    @cache
    def describe(*, backoffice: bool = False) -> dict[str, Any]:
        return document(
            [route for route in routes if route.of_backoffice is backoffice],
            title=f"{TITLE} back office" if backoffice else TITLE,
            version=version,
            description=description,
            tags=tags,
            body_limit=lambda route: limits.find(route.path)[0].get(route.method, body_limit),
        )

    @cache
    def describe_events() -> dict[str, Any]:
        return asyncapi_document(events or EventDocs(), title=f"{TITLE} events", version=version)

    own = [
        health_resource(checks=checks, render_metrics=render_metrics, timeout=ready_timeout),
        docs_resource(describe, describe_events),
        backoffice_docs_resource(lambda: describe(backoffice=True)),
    ]
    for parts, served in [*resources, (Parts(), own)]:
        for declared in chain.from_iterable(resource.operations for resource in served):
            endpoint = Endpoint(declared, parts, guard)
            endpoints.add(declared.method, declared.path, endpoint)
            if endpoint.body_limit is not None:
                limits.add(declared.method, declared.path, endpoint.body_limit)
            if declared.any_origin:
                open_routes.add(declared.method, declared.path, True)
            routes.append(declared)
    told = OperatorRequests(_Dispatch(endpoints, guard, sockets), operator_witness, clock=clock)
    limited = BodyLimit(told, limit=body_limit, by_route=limits)
    layers = RequestIds(
        Canonical(AnyOrigin(limited, routes=open_routes)),
        clock=clock,
        tracer=tracer,
        on_answer=on_answer,
    )
    return HttpApp(layers=layers, describe=describe, routes=routes)


async def send_problem(error: Exception, scope: Scope, send: Send) -> None:
    """Answer with the problem document for `error`."""
    problem = answer(error, path=scope["path"], request_id=request_id_of(scope))
    note_refusal(problem.problem.code)
    await respond(send, problem.status, problem.body, media_type=MEDIA_TYPE, extra=problem.headers)


class _Dispatch:
    """Gives a request to the endpoint of its path and method, and answers what goes wrong there."""

    def __init__(
        self, endpoints: RouteTable[Endpoint], guard: AccessGuard, sockets: Sequence[SocketRoute]
    ) -> None:
        self._endpoints = endpoints
        self._sockets = Sockets(sockets, guard)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        if scope["type"] != "http":
            await self._sockets(scope, receive, send)
            return
        started = False

        async def noting_start(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._answer(scope, receive, noting_start)
        except ClientGoneError:
            return
        except Exception as error:
            # Half an answer can't be taken back; the server closes the connection.
            if started:
                raise
            await send_problem(error, scope, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        by_method, values = self._endpoints.find(scope["path"])
        endpoint = by_method.get(scope["method"])
        if endpoint is not None:
            await endpoint(scope, receive, send, values)
        elif not by_method:
            raise NoRouteError
        elif scope["method"] == "OPTIONS":
            allowed = ", ".join(_allowed(by_method))
            await respond(send, 204, b"", media_type=None, extra=[("allow", allowed)])
        else:
            raise WrongMethodError(_allowed(by_method))


async def _live(receive: Receive, send: Send) -> None:
    """Say yes to a server that asks whether it may start and stop."""
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


def _allowed(methods: Collection[str]) -> list[str]:
    return sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])})
