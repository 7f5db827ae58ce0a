"""Declares a route once: who may call it, what it takes, what it answers.

The guard, the check of query parameters and the OpenAPI document all come from the same declaration.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from tidings.kernel.http.bodies import decode_query, refuse_query
from tidings.kernel.http.callers import TenantNeed, requires
from tidings.kernel.http.deprecation import Deprecated
from tidings.kernel.http.etags import IfMatchMode
from tidings.kernel.ids import IdKind

#: Where the declaration stands in a handler's `opt`, and where what its package needs.
OPT = "operation"
DEPS = "deps"

T = TypeVar("T")
Id = TypeVar("Id", bound=str)


class _Given:
    """Holds a package's deps; the framework copies deeply whatever a router carries, and a pool has no copy."""

    def __init__(self, deps: object) -> None:
        self.deps = deps

    def __deepcopy__(self, memo: object) -> "_Given":
        return self


def given(deps: object) -> dict[str, Any]:
    """For a router: `Router(…, opt=given(deps))`."""
    return {DEPS: _Given(deps)}


def deps_of(request: "Request[Any, Any, Any]", kind: type[T]) -> T:
    """What the router of this route was given."""
    deps = request.scope["route_handler"].opt[DEPS].deps
    if not isinstance(deps, kind):
        raise TypeError(f"the router was given {type(deps)}, its handler wants {kind}")
    return deps


def path_id(request: "Request[Any, Any, Any]", kind: IdKind[Id], name: str) -> Id:
    """The id in the path under that name; a `BadValueError` where it is none of this kind."""
    return kind.parse(str(request.path_params[name]), field=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What there is to know about a route from outside."""

    summary: str
    tag: str
    #: The scope that it needs; None for a public route.
    scope: str | None
    tenant: TenantNeed
    #: A type for the body, for the query parameters, for the answer.
    body: Any
    query: Any
    answer: Any
    #: What kinds of files the body may be, where it is not JSON.
    upload: tuple[str, ...]
    #: Whether the body may be left out.
    body_optional: bool
    #: The kinds of the ids in the path, by their names.
    path: Mapping[str, IdKind[Any]]
    #: Other answers that are no problem documents, by their status.
    also: Mapping[int, Any]
    #: Other answers in its own media type, by their status, with what they say: pages for people.
    pages: Mapping[int, str]
    #: What the answer is, where it is not JSON.
    media_type: str
    #: The status of the answer when all went well.
    status: int
    #: The codes of problems that are special to it.
    problems: tuple[str, ...]
    #: Headers it reads: `Idempotency-Key`, `If-Match`.
    headers: tuple[str, ...]
    #: Whether `If-Match` has to be there, where it is read.
    if_match: IfMatchMode
    #: A longer text, in Markdown.
    description: str
    deprecated: Deprecated | None
    #: A body that works as it stands, for the docs.
    example: Any
    #: Whether test keys may call it; None: by its scope and method.
    test_keys: bool | None


def operation(
    *,
    summary: str,
    tag: str,
    scope: str | None = None,
    public: bool = False,
    tenant: TenantNeed = TenantNeed.REQUIRED,
    writes: bool | None = None,
    body: Any = None,
    query: Any = None,
    answer: Any = None,
    upload: Sequence[str] = (),
    body_optional: bool = False,
    path: Mapping[str, IdKind[Any]] | None = None,
    also: Mapping[int, Any] | None = None,
    pages: Mapping[int, str] | None = None,
    media_type: str = "application/json",
    status: int = 200,
    problems: Sequence[str] = (),
    headers: Sequence[str] = (),
    if_match: IfMatchMode = "required",
    description: str = "",
    deprecated: Deprecated | None = None,
    example: Any = None,
    test_keys: bool | None = None,
) -> dict[str, Any]:
    """The keyword arguments for a route decorator: `@get("/", **operation(…))`."""
    if (scope is None) != public:
        raise TypeError(f"{summary!r} must name a scope or say that it is public, and not both")
    declared = Operation(
        summary=summary,
        tag=tag,
        scope=scope,
        tenant=tenant,
        body=body,
        query=query,
        answer=answer,
        upload=tuple(upload),
        body_optional=body_optional,
        path=path or {},
        also=also or {},
        pages=pages or {},
        media_type=media_type,
        status=status,
        problems=tuple(problems),
        headers=tuple(headers),
        if_match=if_match,
        description=description,
        deprecated=deprecated,
        example=example,
        test_keys=test_keys,
    )
    arguments: dict[str, Any] = {"opt": {OPT: declared}, "status_code": status}
    if scope is not None:
        arguments["guards"] = [
            requires(scope, tenant=tenant, writes=writes, test_keys=test_keys),
            _known_parameters,
        ]
    if deprecated is not None:
        from litestar.datastructures import ResponseHeader

        arguments["response_headers"] = [
            ResponseHeader(name=name, value=value) for name, value in deprecated.headers().items()
        ]
    return arguments


async def _known_parameters(
    connection: "ASGIConnection[Any, Any, Any, Any]", handler: BaseRouteHandler
) -> None:
    query_string = connection.scope.get("query_string", b"")
    if not query_string:
        return
    declared: Operation = handler.opt[OPT]
    if declared.query is None:
        refuse_query(query_string)
    else:
        decode_query(query_string, declared.query)
