"""Pages of devices: the list, one of them, and signing everybody out of it."""

from typing import Final

from tidings.backoffice.console.devices.device_pages import FILTERS, HERE, device_page, devices_page
from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

devices_pages = Resource("console-devices", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_API: Final = "/bff/v1/devices"


@devices_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_devices(request: Request, visits: Visits) -> Reply:
    """Which devices are there."""
    visit = await visits.open(request, of_tenant=True)
    found = await visit.api.get(_API, **{name: visit.query.get(name) for name in FILTERS})
    return devices_page(visit, found, told=visit.told())


@devices_pages.get("/{device_id}", media_type=_HTML)
@answering_with_pages
async def show_device(request: Request, device_id: str, visits: Visits) -> Reply:
    """One of them."""
    visit = await visits.open(request, of_tenant=True)
    return await _device(visit, device_id, told=visit.told())


@devices_pages.post("/{device_id}/revoke", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def revoke_device(request: Request, device_id: str, visits: Visits) -> Reply:
    """End the sessions on a device."""
    visit, fields = await visits.posted(request, writes=False, of_tenant=True)
    try:
        attestation = await visit.api.attest("session.force_out", fields.get("code", "")[:40])
        order = {"scope": "device", "target": device_id}
        await visit.api.post("/bff/v1/force-logout", order, attestation=attestation)
    except ApiProblemError as error:
        return await _device(visit, device_id, told=visit.refused(error), status=error.status)
    return redirect(f"{at(HERE + '/{}', device_id)}?told=devices_revoked")


async def _device(visit: Visit, device_id: str, *, told: Told | None, status: int = 200) -> Reply:
    device = await visit.api.get(at(_API + "/{}", device_id))
    hints = await visit.api.get(at(_API + "/{}/offline-hints", device_id), limit=20)
    return device_page(visit, device, hints["items"], told=told, status=status)
