"""Declares an operation once: a resource, a method, a path, and a handler whose signature says what it needs.

    tenants = Resource("tenants", at="/tenants", scope="tenants", owner=Owner.PLATFORM, tag="tenants (platform)")

    @tenants.get("/{tenant_id}", problems=["tenant_not_found"])
    async def show_tenant(tx: PlatformTx, tenant_id: TenantId) -> Answer[TenantView]:
        "Show a tenant."

The route, the parsing, the scope, the transaction, the ETag, idempotency and the OpenAPI document come from it. The
first line of the docstring is the summary, what follows is the description. `injection.py` says what a handler may
name; `docs/adding-an-endpoint.md` shows it.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.answers import JSON
from tidings.kernel.http.callers import TenantNeed
from tidings.kernel.http.deprecation import Deprecated
from tidings.kernel.http.etags import IfMatchMode
from tidings.kernel.http.injection import Signature, signature_of
from tidings.kernel.http.operations import Operation
from tidings.kernel.ids import TenantId

Handler = Callable[..., Awaitable[Any]]
H = TypeVar("H", bound=Handler)

_READS = ("GET", "HEAD")
#: Which transactions a request may get.
_TRANSACTIONS: dict[TenantNeed, set[Any]] = {
    TenantNeed.REQUIRED: {TenantTx},
    TenantNeed.NAMED: {TenantTx},
    TenantNeed.OPTIONAL: {TenantTx, PlatformTx},
    TenantNeed.NONE: {PlatformTx},
}


class Owner(Enum):
    """Whose things a resource holds; its addresses and its transactions follow from that."""

    #: A tenant's: `/api/v1/…`, for the caller's own tenant or the one that a platform caller names.
    TENANT = (("/api/v1", TenantNeed.REQUIRED),)
    #: The platform's own: `/internal/v1/…`.
    PLATFORM = (("/internal/v1", TenantNeed.NONE),)
    #: Both have some, at both addresses.
    TENANT_OR_PLATFORM = (("/api/v1", TenantNeed.REQUIRED), ("/internal/v1", TenantNeed.NONE))
    #: A tenant's, or the platform's where a platform caller names no tenant: `/api/v1/…`.
    CALLER = (("/api/v1", TenantNeed.OPTIONAL),)
    #: A tenant's, for the platform alone, which names it: `/internal/v1/…`.
    NAMED_TENANT = (("/internal/v1", TenantNeed.NAMED),)
    #: An operator's at work: `/bff/v1/…`, for their own tenant, the platform, or the tenant that they act for.
    OPERATOR = (("/bff/v1", TenantNeed.OPTIONAL),)
    #: Public: pages and hooks, at their own addresses, without a key.
    PUBLIC = (("", TenantNeed.NONE),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """An operation at one address."""

    method: str
    path: str
    #: What the OpenAPI document calls it.
    name: str
    #: What the client and the commands call the resource.
    resource: str
    #: What they call the operation; None: by its method and path.
    verb: str | None
    operation: Operation
    handler: Handler
    signature: Signature
    #: Whether it is refused while the tenant is frozen.
    writes: bool
    #: Whether an Idempotency-Key is heeded around the whole handler, in its transaction.
    idempotent: bool
    #: What an operator needs an attestation for, to do this; None: for nothing.
    attested: str | None
    #: Of which requests it is asked, by their body; None: of all.
    attested_when: Callable[[Any], bool] | None
    #: Which listing its cursors belong to.
    listing: str
    #: How many bytes its body may have: a number, or a part that is one; None: as many as any other.
    body_limit: int | type[int] | None
    #: Whether pages of any origin may call it (CORS).
    any_origin: bool
    #: Whether the OpenAPI document of the back office describes it, and not the public one.
    of_backoffice: bool


class Resource:
    """Operations on one kind of thing."""

    def __init__(
        self,
        name: str,
        *,
        at: str,
        tag: str,
        scope: str | None = None,
        owner: Owner = Owner.TENANT,
        note: str = "",
        any_origin: bool = False,
        of_backoffice: bool = False,
    ) -> None:
        """`scope` is the part before the colon: reading needs `scope:read`, writing `scope:write`.

        `note` ends the description of every operation that takes it from its docstring. `any_origin` lets scripts on
        pages of others call it: for what a token of its own reaches, or what is public. `of_backoffice`: it is in the OpenAPI
        document of the back office, as is all that operators own.
        """
        self.name = name
        self._at = at
        self._tag = tag
        self._scope = scope
        self._owner = owner
        self._note = note
        self._any_origin = any_origin
        self._of_backoffice = of_backoffice or owner is Owner.OPERATOR
        #: In the order of their declaration.
        self.operations: list[Declared] = []

    def get(self, path: str = "/", **options: Any) -> Callable[[H], H]:
        """Declare a GET; see `_declare` for the options."""
        return self._declare("GET", path, **options)

    def post(self, path: str = "/", **options: Any) -> Callable[[H], H]:
        """Declare a POST."""
        return self._declare("POST", path, **options)

    def put(self, path: str = "/", **options: Any) -> Callable[[H], H]:
        """Declare a PUT."""
        return self._declare("PUT", path, **options)

    def patch(self, path: str = "/", **options: Any) -> Callable[[H], H]:
        """Declare a PATCH."""
        return self._declare("PATCH", path, **options)

    def delete(self, path: str = "/", **options: Any) -> Callable[[H], H]:
        """Declare a DELETE."""
        return self._declare("DELETE", path, **options)

    def _declare(
        self,
        method: str,
        path: str,
        *,
        verb: str | None = None,
        name: str | None = None,
        scope: str | None = None,
        owner: Owner | None = None,
        writes: bool | None = None,
        test_keys: bool | None = None,
        idempotent: bool = False,
        attested: str | None = None,
        attested_when: Callable[[Any], bool] | None = None,
        if_match: IfMatchMode = "required",
        listing: str | None = None,
        body_limit: int | type[int] | None = None,
        status: int | None = None,
        answer: Any = None,
        also: Mapping[int, Any] | None = None,
        pages: Mapping[int, str] | None = None,
        media_type: str = JSON,
        upload: Sequence[str] = (),
        body: Any = None,
        headers: Sequence[str] = (),
        problems: Sequence[str] = (),
        example: Any = None,
        deprecated: Deprecated | None = None,
        summary: str | None = None,
        platform_summary: str | None = None,
        description: str | None = None,
    ) -> Callable[[H], H]:
        """What is not said follows from the method, the path and the handler's signature.

        `scope` is a whole one (`recipients:read`, `any`); `writes` is whether a frozen tenant is refused, and which
        half of the resource's scope is needed. `answer` and `body` are for handlers that give a `Reply`, or read the
        request themselves. `platform_summary` is for the platform's twin of an operation. `also` and `pages` are other
        answers by their status; `upload` the kinds of files taken. `body_limit` is in bytes, or the type of a part that
        holds it: a setting. `attested` names the action that an operator attests; keys and tokens need no attestation;
        `attested_when` says by the body whether it is asked.
        """
        changes = method not in _READS if writes is None else writes

        def declare(handler: H) -> H:
            signature = signature_of(handler, path)
            said, _, more = inspect.cleandoc(handler.__doc__ or "").partition("\n")
            answered = answer if answer is not None else signature.answer
            bodiless = answered is None and signature.gives_nothing
            mine = owner or self._owner
            for root, need in mine.value:
                _check_owner(handler.__name__, signature, need)
                of_platform = len(mine.value) > 1 and need is TenantNeed.NONE
                declared = Operation(
                    summary=(of_platform and platform_summary) or summary or said,
                    description=f"{' '.join(more.split())} {self._note}".strip()
                    if description is None
                    else description,
                    tag=self._tag,
                    scope=self._scope_of(scope, mine, writes=changes),
                    tenant=need,
                    body=body or signature.body,
                    body_optional=signature.body_optional,
                    query=signature.query,
                    answer=answered,
                    upload=tuple(upload),
                    path=signature.id_kinds,
                    also=also or {},
                    pages=pages or {},
                    media_type=media_type,
                    status=status or (204 if bodiless else 200),
                    problems=(*problems, *(["attestation_required"] if attested else [])),
                    headers=(
                        *headers,
                        *signature.headers,
                        *(["Idempotency-Key"] if idempotent else []),
                        *(["X-Attestation"] if attested else []),
                    ),
                    if_match=if_match,
                    deprecated=deprecated,
                    example=example,
                    test_keys=test_keys,
                )
                called = name or handler.__name__
                self.operations.append(
                    Declared(
                        method=method,
                        path=(root + self._at + path).rstrip("/") or "/",
                        name=f"{called}_of_platform" if of_platform else called,
                        resource=self.name,
                        verb=verb,
                        operation=declared,
                        handler=handler,
                        signature=signature,
                        writes=changes,
                        idempotent=idempotent,
                        attested=attested,
                        attested_when=attested_when,
                        listing=listing or self.name,
                        body_limit=body_limit,
                        any_origin=self._any_origin,
                        of_backoffice=self._of_backoffice,
                    )
                )
            return handler

        return declare

    def _scope_of(self, whole: str | None, owner: Owner, *, writes: bool) -> str | None:
        if owner is Owner.PUBLIC:
            return None
        if whole is not None:
            return whole
        if self._scope is None:
            raise TypeError(f"{self.name} must name a scope, or be public")
        return f"{self._scope}:{'write' if writes else 'read'}"


def _check_owner(handler: str, signature: Signature, need: TenantNeed) -> None:
    """A `TypeError` where a request may get another transaction than the handler names, or a tenant that is none."""
    for name, taken in signature.transactions.items():
        if not _TRANSACTIONS[need] <= taken:
            raise TypeError(f"{handler}({name}=…): its owner gives another transaction, tenant {need}")
    if TenantId in signature.special.values() and _TRANSACTIONS[need] != {TenantTx}:
        raise TypeError(f"{handler} names the tenant of a request that may have none, tenant {need}")
