"""What HTTP calls about addresses and mail domains that nobody may write to."""

from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any

from litestar import Request, Response, Router, delete, get, post
from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.addresses import NormalisedAddress, normalise
from tidings.contracts.moments import Moment
from tidings.contracts.text import Reason as Words
from tidings.kernel.db import PlatformTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import TenantNeed, caller_of
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, PageQuery, page_of, read_cursor
from tidings.notify.ids import SUPPRESSION
from tidings.notify.suppressions import platform_store
from tidings.notify.suppressions.deps import Deps
from tidings.notify.suppressions.model import SuppressibleChannel, SuppressionReason, whole_domain
from tidings.notify.suppressions.platform_store import PlatformRow
from tidings.notify.suppressions.suppress import Suppressor
from tidings.notify.suppressions.wire import ReleaseQuery

_TAG = "suppressions"
_LISTING = "platform-suppressions"

AnyRequest = Request[Any, Any, Any]


class AddForAll(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An address, or a whole mail domain, that nobody may write to."""

    channel: SuppressibleChannel
    address: Annotated[str, Meta(min_length=1, max_length=4096)] | UnsetType = UNSET
    #: Instead of an address: every address of this domain, and none of its subdomains.
    mail_domain: Annotated[str, Meta(min_length=1, max_length=253)] | UnsetType = UNSET
    reason: SuppressionReason = SuppressionReason.COMPLIANCE
    #: For people; not for personal data.
    notes: Words | None = None

    def target(self) -> tuple[NormalisedAddress | None, str | None]:
        """The address or the domain, in its one spelling."""
        if isinstance(self.mail_domain, UnsetType):
            if isinstance(self.address, UnsetType):
                raise BadValueError("address", "is required, or a mail_domain")
            return normalise(self.channel, self.address), None
        if not isinstance(self.address, UnsetType) or self.channel != "email":
            raise BadValueError("mail_domain", "is for the channel email, and instead of an address")
        return None, whole_domain(self.mail_domain)[1:]


class AddedForAll(Struct, frozen=True, kw_only=True):
    """What came of it."""

    #: False: it was suppressed before.
    created: bool


class PlatformSuppressionView(Struct, frozen=True, kw_only=True):
    """A suppression of the platform's; of an address only the hash is known."""

    id: str
    channel: SuppressibleChannel
    mail_domain: str | None
    reason: SuppressionReason
    notes: str | None
    expires_at: Moment | None
    released_at: Moment | None
    released_by: str | None
    created_by: str
    created_at: Moment

    @classmethod
    def of(cls, row: PlatformRow) -> "PlatformSuppressionView":
        """The row as it is shown."""
        return cls(**{name: getattr(row, name) for name in cls.__struct_fields__})


@post(
    "/",
    **operation(
        summary="Suppress an address or a mail domain for all tenants.",
        tag=_TAG,
        scope="suppressions:write",
        tenant=TenantNeed.NONE,
        body=AddForAll,
        answer=AddedForAll,
        status=201,
        also={200: AddedForAll},
    ),
)
async def suppress_for_all(request: AnyRequest) -> Response[AddedForAll]:
    """Suppress for all tenants."""
    deps = deps_of(request, Deps)
    wanted = await read_body(request, AddForAll)
    address, domain = wanted.target()
    async with _platform(request) as tx:
        created = await _suppressor(deps).add_for_platform(
            tx,
            channel=wanted.channel,
            address=address,
            mail_domain=domain,
            reason=wanted.reason,
            actor=caller_of(request).actor,
            notes=wanted.notes,
        )
    return Response(AddedForAll(created=created), status_code=201 if created else 200)


@get(
    "/",
    **operation(
        summary="List what is suppressed for all tenants, the newest first.",
        tag=_TAG,
        scope="suppressions:read",
        tenant=TenantNeed.NONE,
        query=PageQuery,
        answer=Page[PlatformSuppressionView],
    ),
)
async def list_for_all(request: AnyRequest) -> Page[PlatformSuppressionView]:
    """List what is suppressed for all tenants."""
    query = read_query(request, PageQuery)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _platform(request) as tx:
        found = await platform_store.list_for_all(
            tx, after_id=after.id if after else None, limit=query.limit + 1
        )
    return page_of(
        found,
        limit=query.limit,
        listing=_LISTING,
        id_of=lambda row: row.id,
        render=PlatformSuppressionView.of,
    )


@delete(
    "/{suppression_id:str}",
    **operation(
        summary="Release a suppression of the platform's.",
        tag=_TAG,
        scope="suppressions:write",
        tenant=TenantNeed.NONE,
        path={"suppression_id": SUPPRESSION},
        query=ReleaseQuery,
        status=204,
        problems=["suppression_not_found"],
        description="The row stays, with who released it and when.",
    ),
)
async def release_for_all(request: AnyRequest) -> None:
    """Release a suppression of the platform's."""
    wanted = path_id(request, SUPPRESSION, "suppression_id")
    query = read_query(request, ReleaseQuery)
    async with _platform(request) as tx:
        await _suppressor(deps_of(request, Deps)).release_for_platform(
            tx, wanted, actor=caller_of(request).actor, reason=query.reason
        )


def _platform(request: AnyRequest) -> AbstractAsyncContextManager[PlatformTx]:
    return deps_of(request, Deps).db.platform(caller_role=caller_of(request).role)


def _suppressor(deps: Deps) -> Suppressor:
    return Suppressor(keyring=deps.keyring, outbox=deps.outbox, audit=deps.audit, clock=deps.clock)


def router(deps: Deps) -> Router:
    """The platform's own list."""
    return Router(
        "/internal/v1/platform-suppressions",
        route_handlers=[suppress_for_all, list_for_all, release_for_all],
        opt=given(deps),
    )
