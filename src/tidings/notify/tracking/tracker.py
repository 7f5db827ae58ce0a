"""Decides for a set of mails whether they are watched, and makes what they carry then."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.tenants import Tracking
from tidings.kernel.ids import TenantId
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.model import Facts
from tidings.notify.tracking.rewrite import rewrite
from tidings.notify.tracking.tokens import MOST_TARGET, Mark, Marker

#: Where the pixel and the links of a mail lead.
PIXEL_PATH = "/t/o/"
CLICK_PATH = "/t/c/"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailTracking:
    """What is watched of one tenant's mails."""

    tenant_id: TenantId
    wanted: Tracking
    categories: Mapping[str, CategoryPolicy]
    marker: Marker = field(repr=False)
    #: How the outside reaches us, without a slash at the end.
    base_url: str

    def over(
        self,
        html: str,
        *,
        notification_id: NotificationId,
        recipient_id: RecipientId,
        step: int,
        category: str,
    ) -> str:
        """The mail with its pixel and its links; as it is where its category forbids that."""
        policy = self.categories.get(category)
        if policy is None or not policy.tracking_allowed:
            return html
        mark = Mark(
            kind="opened",
            tenant_id=self.tenant_id,
            notification_id=notification_id,
            recipient_id=recipient_id,
            step=step,
        )

        def link(target: str) -> str | None:
            # Opting out and choosing are not tracked; those links are ours.
            if target.startswith(f"{self.base_url}/") or len(target.encode()) > MOST_TARGET:
                return None
            followed = replace(mark, kind="clicked", target=target)
            return f"{self.base_url}{CLICK_PATH}{self.marker.write(followed)}"

        return rewrite(
            html,
            link=link if self.wanted.clicks else None,
            pixel=f"{self.base_url}{PIXEL_PATH}{self.marker.write(mark)}.gif" if self.wanted.opens else None,
        )


class Tracker:
    """Watches for those tenants who switched it on."""

    def __init__(self, loader: FactsLoader, base_url: str) -> None:
        self._loader = loader
        self._base_url = base_url.rstrip("/")
        self._marker: Marker | None = None

    async def watch(self, tenant_id: TenantId, facts: Facts) -> MailTracking | None:
        """What is watched of this tenant's mails; None where nothing is, which costs nothing."""
        wanted = facts.tenant.policy.tracking
        if not (wanted.opens or wanted.clicks):
            return None
        return MailTracking(
            tenant_id=tenant_id,
            wanted=wanted,
            categories=facts.categories,
            marker=await self.marker(),
            base_url=self._base_url,
        )

    async def marker(self) -> Marker:
        """Who makes and reads tokens; the database is asked the first time only. No transaction may be open."""
        if self._marker is None:
            self._marker = Marker((await self._loader.shared()).platform_pepper)
        return self._marker
