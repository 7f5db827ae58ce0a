"""Operations on addresses and mail domains that no tenant may write to."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.addresses import NormalisedAddress, normalise
from tidings.contracts.moments import Moment
from tidings.contracts.text import Reason as Words
from tidings.kernel.db import PlatformTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.mapping import by_name
from tidings.notify.ids import SuppressionId
from tidings.notify.suppressions import platform_store
from tidings.notify.suppressions.model import SuppressibleChannel, SuppressionReason, whole_domain
from tidings.notify.suppressions.suppress import Suppressor
from tidings.notify.suppressions.wire import ReleaseQuery

platform_suppressions = Resource(
    "platform-suppressions",
    at="/platform-suppressions",
    tag="suppressions",
    scope="suppressions",
    owner=Owner.PLATFORM,
)


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


@platform_suppressions.post(status=201, also={200: AddedForAll})
async def suppress_for_all(
    tx: PlatformTx, body: AddForAll, caller: Caller, suppressor: Suppressor
) -> Answer[AddedForAll]:
    """Suppress an address or a mail domain for all tenants."""
    address, domain = body.target()
    created = await suppressor.add_for_platform(
        tx,
        channel=body.channel,
        address=address,
        mail_domain=domain,
        reason=body.reason,
        actor=caller.actor,
        notes=body.notes,
    )
    return Answer(AddedForAll(created=created), status=201 if created else 200)


@platform_suppressions.get()
async def list_for_all(tx: PlatformTx, paging: Paging) -> Page[PlatformSuppressionView]:
    """List what is suppressed for all tenants, the newest first."""
    found = await platform_store.list_for_all(tx, after_id=paging.after_id, limit=paging.fetch)
    return paging.page(found, lambda row: by_name(PlatformSuppressionView, row))


@platform_suppressions.delete("/{suppression_id}", problems=["suppression_not_found"])
async def release_for_all(
    tx: PlatformTx, suppression_id: SuppressionId, query: ReleaseQuery, caller: Caller, suppressor: Suppressor
) -> None:
    """Release a suppression of the platform's.

    The row stays, with who released it and when.
    """
    await suppressor.release_for_platform(tx, suppression_id, actor=caller.actor, reason=query.reason)
