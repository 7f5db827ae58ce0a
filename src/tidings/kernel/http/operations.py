"""What there is to know about a route from outside: who may call it, what it takes, what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidings.kernel.http.callers import TenantNeed
from tidings.kernel.http.deprecation import Deprecated
from tidings.kernel.http.etags import IfMatchMode
from tidings.kernel.ids import IdKind


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
