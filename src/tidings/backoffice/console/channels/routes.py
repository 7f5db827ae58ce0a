"""Pages of channels, their credentials, and the secrets behind them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tidings.backoffice.attestations.actions import AttestedAction
from tidings.backoffice.console.channels.channel_page import channel_page
from tidings.backoffice.console.channels.channels_page import HERE, channels_page
from tidings.backoffice.console.channels.dns_page import dns_page
from tidings.backoffice.console.channels.names import CHANNELS
from tidings.backoffice.console.channels.secrets_page import secrets_page
from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.typed import Typed, given, text, whole
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

channels_pages = Resource("console-channels", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_CHANGES: Final[AttestedAction] = "credential.change"


@channels_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_channels(request: Request, visits: Visits) -> Reply:
    """The channels of this tenant."""
    visit = await visits.open(request, of_tenant=True)
    return channels_page(visit, (await visit.api.get("/api/v1/channels"))["items"])


@channels_pages.get("/secrets", media_type=_HTML)
@answering_with_pages
async def show_secrets(request: Request, visits: Visits) -> Reply:
    """The secrets that were entered, without what is in them."""
    visit = await visits.open(request, of_tenant=True)
    return await _secrets(visit)


@channels_pages.post("/secrets", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def keep_secret(request: Request, visits: Visits) -> Reply:
    """Enter a secret, or another in its place."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    typed = fields.get("value", "").strip()
    try:
        path = at("/api/v1/router/secrets/{}", text(fields, "name") or "-")
        attestation = await visit.attest(_CHANGES, fields)
        await visit.api.call("PUT", path, body={"value": _secret(typed)}, attestation=attestation)
    except ApiProblemError as error:
        # What was typed into `value` is a secret: it goes into no page.
        kept = Typed(fields={"name": fields.get("name", "")}, errors=error.errors)
        return await _secrets(visit, error, typed=kept)
    return redirect(f"{HERE}/secrets?told=secret_kept")


@channels_pages.post("/secrets/{name}/remove", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def remove_secret(request: Request, name: str, visits: Visits) -> Reply:
    """Remove a secret that nobody reads."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    try:
        attestation = await visit.attest(_CHANGES, fields)
        await visit.api.call("DELETE", at("/api/v1/router/secrets/{}", name), attestation=attestation)
    except ApiProblemError as error:
        return await _secrets(visit, error)
    return redirect(f"{HERE}/secrets?told=secret_removed")


@channels_pages.get("/email/dns", media_type=_HTML)
@answering_with_pages
async def show_dns(request: Request, visits: Visits) -> Reply:
    """Ask the name servers about the domain of mails."""
    visit = await visits.open(request, of_tenant=True)
    return dns_page(visit, await visit.api.get("/api/v1/channels/email/dns"))


@channels_pages.get("/{channel}", media_type=_HTML)
@answering_with_pages
async def show_channel(request: Request, channel: str, visits: Visits) -> Reply:
    """One channel."""
    visit = await visits.open(request, of_tenant=True)
    return await _channel(visit, channel)


@channels_pages.post("/{channel}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def save_channel(request: Request, channel: str, visits: Visits) -> Reply:
    """Set a channel up, or change it."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    try:
        body = _channel_of(fields, await _looks(visit, channel))
        attestation = None
        if "accounts" in body:
            attestation = await visit.attest(_CHANGES, fields)
        await visit.api.call(
            "PUT",
            at("/api/v1/channels/{}", channel),
            body=body,
            if_match=fields.get("etag"),
            attestation=attestation,
        )
    except ApiProblemError as error:
        return await _channel(visit, channel, error, typed=Typed(fields=fields, errors=error.errors))
    return redirect(f"{HERE}/{channel}?told=channel_saved")


@channels_pages.post("/{channel}/rotate", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def rotate_credential(request: Request, channel: str, visits: Visits) -> Reply:
    """Put a new credential in the place of the one in use."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    body = given(
        secret_ref=text(fields, "secret_ref"), vendor=text(fields, "vendor"), check="check" in fields
    )
    try:
        attestation = await visit.attest(_CHANGES, fields)
        await visit.api.post(
            at("/api/v1/channels/{}/credentials/rotate", channel), body, attestation=attestation
        )
    except ApiProblemError as error:
        return await _channel(visit, channel, error)
    return redirect(f"{HERE}/{channel}?told=credential_rotated")


@channels_pages.post("/{channel}/test", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def test_channel(request: Request, channel: str, visits: Visits) -> Reply:
    """Send one message through it, and show what the vendor said."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    body = given(to=text(fields, "to"), vendor=text(fields, "vendor"))
    try:
        tested = await visit.api.post(at("/api/v1/channels/{}/test", channel), body)
    except ApiProblemError as error:
        return await _channel(visit, channel, error)
    return await _channel(visit, channel, tested=tested)


async def _channel(
    visit: Visit,
    channel: str,
    error: ApiProblemError | None = None,
    *,
    typed: Typed | None = None,
    tested: dict[str, Any] | None = None,
) -> Reply:
    if channel not in CHANNELS:
        raise BadValueError("channel", "is none that there is")
    found, etag = None, ""
    try:
        answer = await visit.api.call("GET", at("/api/v1/channels/{}", channel))
        found, etag = answer.data, answer.etag
    except ApiProblemError as missing:
        if missing.code != "channel_not_found":
            raise
    kinds = (
        (await visit.api.get("/api/v1/router/adapters/kinds"))["items"] if visit.may("router:read") else []
    )
    return channel_page(
        visit,
        channel,
        found,
        etag,
        kinds,
        told=visit.refused(error) if error else None,
        typed=typed,
        tested=tested,
        status=error.status if error else 200,
    )


async def _looks(visit: Visit, channel: str) -> Any:
    """How it differs from the tenant's branding: the form does not show it, and a change keeps it."""
    try:
        return (await visit.api.get(at("/api/v1/channels/{}", channel)))["branding"]
    except ApiProblemError as missing:
        if missing.code != "channel_not_found":
            raise
        return None


async def _secrets(
    visit: Visit, error: ApiProblemError | None = None, *, typed: Typed | None = None
) -> Reply:
    found = (await visit.api.get("/api/v1/router/secrets"))["items"]
    told = visit.refused(error) if error else None
    return secrets_page(visit, found, told=told, typed=typed, status=error.status if error else 200)


def _channel_of(fields: Mapping[str, str], branding: Any) -> dict[str, Any]:
    vendor = text(fields, "vendor") or ""
    account = given(secret_ref=text(fields, "account_ref"), handle=text(fields, "account_handle"))
    names = ("from_address", "from_name", "reply_to", "dkim_selector", "sender_id")
    spans = ("per_second", "per_minute", "per_day")
    return given(
        vendor=vendor,
        fallback_vendor=text(fields, "fallback_vendor"),
        sender=given(**{name: text(fields, name) for name in names}),
        rate_limit=given(**{span: whole(fields, span) for span in spans}),
        branding=branding,
        status="active" if "active" in fields else "disabled",
        accounts={vendor: account} if account else None,
    )


def _secret(typed: str) -> Any:
    """An object where it is written as one, or else a text."""
    if typed.startswith("{"):
        try:
            return msgspec.json.decode(typed)
        except msgspec.DecodeError:
            return typed
    return typed
