"""Builds the application: layers from the outside in, problems for everything that goes wrong.

Request ids → one spelling of the path → body limit → raw routes or the framework → guards → handler. All
layers are plain ASGI. The hottest routes go in front of the framework as raw handlers; they pass the same door and answer the same
problems.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, Router, get
from litestar.datastructures import State
from litestar.exceptions import MethodNotAllowedException
from litestar.handlers import HTTPRouteHandler
from opentelemetry import trace

from tidings.kernel.clock import Clock
from tidings.kernel.http.asgi import App, ClientGoneError, Message, Receive, Scope, Send, respond
from tidings.kernel.http.body_limit import DEFAULT_LIMIT, BodyLimit
from tidings.kernel.http.callers import AccessGuard
from tidings.kernel.http.canonical import Canonical
from tidings.kernel.http.docs_page import docs_routes
from tidings.kernel.http.endpoint import Endpoint
from tidings.kernel.http.errors import NoRouteError, WrongMethodError
from tidings.kernel.http.health import Check, health_routes
from tidings.kernel.http.openapi import Route, document, routes_of
from tidings.kernel.http.operations import operation
from tidings.kernel.http.problems import MEDIA_TYPE, answer
from tidings.kernel.http.request_ids import Answered, RequestIds, request_id_of
from tidings.kernel.http.resources import Resource
from tidings.kernel.http.routing import RouteTable
from tidings.kernel.parts import Parts

TITLE = "Tidings"


class _OwnRouter(Router):
    """A router that is registered once. The framework copies one deeply, in case that somebody uses it again, and at our number
    of routes the copy is half of the time that an application takes to make."""

    __slots__ = ()

    def __deepcopy__(self, memo: object) -> "_OwnRouter":
        return self


class HttpApp:
    """The application, ready for a server."""

    def __init__(
        self,
        *,
        framework: Litestar,
        layers: App,
        describe: Callable[[], dict[str, Any]],
        routes: Sequence[Route],
    ) -> None:
        self._layers = layers
        #: The framework inside, for tests that look at its routes.
        self.framework = framework
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
    routers: Sequence[Router | HTTPRouteHandler],
    door: AccessGuard,
    clock: Clock,
    version: str,
    checks: Mapping[str, Check],
    render_metrics: Callable[[], bytes],
    description: str = "",
    tags: Sequence[str] = (),
    body_limit: int = DEFAULT_LIMIT,
    body_limits: Mapping[str, int] | None = None,
    raw_routes: Mapping[tuple[str, str], App] | None = None,
    resources: Sequence[tuple[Parts, Sequence[Resource]]] = (),
    tracer: trace.Tracer | None = None,
    on_answer: Callable[[Answered], None] | None = None,
    ready_timeout: float = 2.0,
) -> HttpApp:
    """The application over these routers.

    `resources` stand with the parts that their handlers may name. `body_limits` are by path, for POST,
    `raw_routes` by method and path; `tags` is the order of groups in the docs.
    """
    routes: list[Route] = []
    endpoints: RouteTable[Endpoint] = RouteTable()
    limits: RouteTable[int] = RouteTable()
    for path, limit in (body_limits or {}).items():
        limits.add("POST", path, limit)
    for parts, served in resources:
        for declared in chain.from_iterable(resource.operations for resource in served):
            endpoint = Endpoint(declared, parts, door)
            endpoints.add(declared.method, declared.path, endpoint)
            if endpoint.body_limit is not None:
                limits.add(declared.method, declared.path, endpoint.body_limit)
            routes.append(Route.of(declared))
    for router in routers:
        if type(router) is Router:
            router.__class__ = _OwnRouter

    # Written when it is first asked for: it takes a third of a second, and a start should not wait for it.
    @cache
    def describe() -> dict[str, Any]:
        return document(
            routes,
            title=TITLE,
            version=version,
            description=description,
            tags=tags,
            body_limit=lambda route: limits.find(route.path)[0].get(route.method, body_limit),
        )

    framework = Litestar(
        route_handlers=[
            *routers,
            *health_routes(checks=checks, render_metrics=render_metrics, timeout=ready_timeout),
            *docs_routes(),
            _openapi_route(describe),
        ],
        exception_handlers={Exception: _problem},
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,
        state=State({"door": door}, deep_copy=False),
        debug=False,
    )
    routes.extend(routes_of(framework))
    inner: App = framework  # type: ignore[assignment]  # the framework's own names for the same ASGI types
    layers = RequestIds(
        Canonical(
            BodyLimit(
                _Front(inner, raw_routes or {}, endpoints, lambda path: _methods_at(framework, path)),
                limit=body_limit,
                by_route=limits,
            )
        ),
        clock=clock,
        tracer=tracer,
        on_answer=on_answer,
    )
    return HttpApp(framework=framework, layers=layers, describe=describe, routes=routes)


async def send_problem(error: Exception, scope: Scope, send: Send) -> None:
    """Answer with the problem document for `error`."""
    problem = answer(error, path=scope["path"], request_id=request_id_of(scope))
    await respond(send, problem.status, problem.body, media_type=MEDIA_TYPE, extra=problem.headers)


class _Front:
    """Gives the hottest routes to their raw handlers and all else to the framework."""

    def __init__(
        self,
        framework: App,
        raw_routes: Mapping[tuple[str, str], App],
        endpoints: RouteTable[Endpoint],
        methods_at: Callable[[str], list[str]],
    ) -> None:
        self._framework = framework
        self._raw = dict(raw_routes)
        self._endpoints = endpoints
        self._methods_at = methods_at

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._framework(scope, receive, send)
            return
        raw = self._raw.get((scope["method"], scope["path"]))
        started = False

        async def noting_start(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            if scope["method"] == "OPTIONS":
                # The framework would name the methods of one handler, and an address may have several.
                allowed = self._allowed(scope["path"])
                await respond(noting_start, 204, b"", media_type=None, extra=[("allow", ", ".join(allowed))])
            elif raw is not None:
                scope["path_template"] = scope["path"]
                await raw(scope, receive, noting_start)
            else:
                by_method, values = self._endpoints.find(scope["path"])
                endpoint = by_method.get(scope["method"])
                if endpoint is not None:
                    scope.setdefault("state", {})
                    await endpoint(scope, receive, noting_start, values)
                elif by_method and not self._methods_at(scope["path"]):
                    raise WrongMethodError(_with_head(by_method))  # noqa: TRY301
                else:
                    await self._framework(scope, receive, noting_start)
        except ClientGoneError:
            return
        except Exception as error:
            # Half an answer can't be taken back; the server closes the connection.
            if started:
                raise
            await send_problem(error, scope, send)

    def _allowed(self, path: str) -> list[str]:
        raw = {method for method, known in self._raw if known == path}
        declared, _ = self._endpoints.find(path)
        methods = sorted({*self._methods_at(path), *raw, *(_with_head(declared) if declared else ())})
        if not methods:
            raise NoRouteError
        return sorted({*methods, "OPTIONS"})


def _problem(request: "Request[Any, Any, Any]", error: Exception) -> Response[bytes]:
    if isinstance(error, ClientGoneError):
        raise error
    if isinstance(error, MethodNotAllowedException):
        error = WrongMethodError(_methods_at(request.app, request.scope["path"]))
    scope: Scope = request.scope  # type: ignore[assignment]
    problem = answer(error, path=scope["path"], request_id=request_id_of(scope))
    return Response(
        problem.body, status_code=problem.status, media_type=MEDIA_TYPE, headers=dict(problem.headers)
    )


def _with_head(methods: Collection[str]) -> list[str]:
    return sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])})


def _methods_at(app: Litestar, path: str) -> list[str]:
    matching = [route for route in app.routes if _matches(route.path, path)]
    if not matching:
        return []
    # As the router chooses: a word that is written in a path goes before one that may be any.
    methods = set(getattr(min(matching, key=lambda route: _variables(route.path)), "methods", ()))
    return sorted(methods | {"HEAD"} if "GET" in methods else methods)


def _matches(template: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(template)), path) is not None


def _variables(template: str) -> list[bool]:
    return [part.startswith("{") for part in template.split("/")]


def _openapi_route(describe: Callable[[], dict[str, Any]]) -> HTTPRouteHandler:
    @get("/openapi.json", **operation(public=True, tag="docs", summary="The API, as OpenAPI 3.1."))
    async def openapi_json() -> Response[bytes]:
        return Response(msgspec.json.encode(describe()), media_type="application/json")

    return openapi_json
