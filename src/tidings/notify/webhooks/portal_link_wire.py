"""Portal links as JSON: what requests bring and answers show."""

from datetime import timedelta
from typing import Annotated, Final
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Locale
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.kernel.urls import normalise_http_url
from tidings.notify.tenants.locales import UNKNOWN_LOCALE, locale_exists
from tidings.notify.webhooks.portal_links import NewPortalLink, PortalLinkPlan

#: An hour: time enough to look, and too short to be passed on.
_USUAL_SECONDS: Final = 3_600
_MOST_SECONDS: Final = 604_800


class CreateWebhookPortalLink(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What whoever opens the link may see and do."""

    #: For so long it works: a minute to seven days.
    lifetime_seconds: Annotated[int, Meta(ge=60, le=_MOST_SECONDS)] = _USUAL_SECONDS
    #: Otherwise it only shows.
    may_change: bool = True
    #: What can be chosen, as `events` of a webhook; what the webhook is told now, where it is left out.
    event_types: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=200)]], Meta(min_length=1, max_length=100)
        ]
        | None
    ) = None
    #: The language of the pages; what the browser asks for, where it is left out.
    locale: Locale | None = None
    #: Sites that may show the pages in a frame: `https://app.example.com`. None, where it is left out.
    embed_origins: Annotated[
        list[Annotated[str, Meta(min_length=8, max_length=300)]], Meta(max_length=10)
    ] = []

    def plan(self) -> PortalLinkPlan:
        """What is wanted."""
        origins = [_origin_of(text) for text in self.embed_origins]
        wrong = [
            FieldError(
                f"embed_origins[{place}]", "must be an origin: a scheme and a host, https://app.example.com"
            )
            for place, origin in enumerate(origins)
            if origin is None
        ]
        if self.locale is not None and not locale_exists(self.locale):
            wrong.append(FieldError("locale", UNKNOWN_LOCALE))
        if wrong:
            raise InvalidError(wrong)
        return PortalLinkPlan(
            lasts=timedelta(seconds=self.lifetime_seconds),
            may_change=self.may_change,
            event_types=self.event_types,
            locale=self.locale,
            embed_origins=[origin for origin in origins if origin is not None],
        )


class WebhookPortalLinkView(Struct, frozen=True, kw_only=True):
    """A link to the webhook portal; its address is shown this once."""

    #: How the audit names who comes by it: `portal:wpl_…`.
    id: str
    #: Opens in a browser without any other login: whoever has it can do what it allows.
    url: str
    expires_at: Moment
    webhook_id: str
    #: Whose webhooks it shows; null: that one webhook.
    customer: str | None
    may_change: bool

    @classmethod
    def of(cls, made: NewPortalLink) -> "WebhookPortalLinkView":
        """The link as it is shown to who made it."""
        link = made.link
        return cls(
            id=link.id,
            url=made.url,
            expires_at=link.expires_at,
            webhook_id=link.subscription_id,
            customer=link.customer,
            may_change=link.may_change,
        )

    def __repr__(self) -> str:
        return f"WebhookPortalLinkView({self.id}, ***)"


def _origin_of(text: str) -> str | None:
    """The origin in its one spelling; None where it is none. Its letters are those of a header: nothing else gets in there."""
    url = normalise_http_url(text)
    if url is None:
        return None
    parts = urlsplit(url)
    plain = parts.path in ("", "/") and not parts.query and not parts.fragment and parts.username is None
    if not plain or set(parts.netloc) & set(" ;,'\"*") or not parts.netloc.isascii():
        return None
    return f"{parts.scheme}://{parts.netloc}"
