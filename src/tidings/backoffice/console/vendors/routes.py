"""Pages of vendor accounts: of a tenant, or of the platform where its people have chosen no tenant."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.typed import Typed, given, lines, micros, moment_of, text, whole
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.vendors.account_page import account_page, new_account_page
from tidings.backoffice.console.vendors.codes_page import USUAL_REASON, codes_page
from tidings.backoffice.console.vendors.list_page import HERE, vendors_page
from tidings.backoffice.console.vendors.weights_page import weights_page
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

vendors_pages = Resource("console-vendors", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_PRICES: Final = {"base": "base_micros", "segment": "per_segment_micros", "minute": "per_minute_micros"}

Fields = Mapping[str, str]


def _root(visit: Visit) -> str:
    """The platform's own side of the API, or that of the tenant."""
    return "/internal/v1/router" if visit.tenant_is_missing else "/api/v1/router"


@vendors_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_vendors(request: Request, visits: Visits) -> Reply:
    """All accounts."""
    visit = await visits.open(request)
    accounts = (await visit.api.get(f"{_root(visit)}/adapters"))["items"]
    circuits = (await visit.api.get(f"{_root(visit)}/circuits"))["items"]
    calls = await _calls(visit)
    return vendors_page(
        visit,
        accounts,
        {one["account_id"]: one for one in circuits},
        {one["account_id"]: one for one in calls["items"]},
        more=calls["more"],
    )


@vendors_pages.get("/new", media_type=_HTML)
@answering_with_pages
async def show_new_account(request: Request, visits: Visits) -> Reply:
    """An account to be."""
    visit = await visits.open(request)
    return new_account_page(visit, await _kinds(visit), Typed())


@vendors_pages.post("/new", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def make_account(request: Request, visits: Visits) -> Reply:
    """Make an account; the reference to its secret is attested."""
    visit, fields = await visits.posted(request, writes=True)
    suffix = text(fields, "suffix")
    vendor = fields.get("kind", "") + (f"_{suffix}" if suffix else "")
    body = given(vendor=vendor, secret_ref=text(fields, "secret_ref"), handle=text(fields, "handle"))
    try:
        attestation = await visit.attest("credential.change", fields)
        made = await visit.api.post(f"{_root(visit)}/adapters", body, attestation=attestation)
    except ApiProblemError as error:
        typed = Typed(fields={**fields, "code": ""}, errors=error.errors)
        told = visit.refused(error)
        return new_account_page(visit, await _kinds(visit), typed, told=told, status=error.status)
    return redirect(f"{HERE}/{made['id']}?told=account_made")


@vendors_pages.get("/weights", media_type=_HTML)
@answering_with_pages
async def show_weights(request: Request, visits: Visits) -> Reply:
    """How vendors share channels."""
    return await _weights(await visits.open(request))


@vendors_pages.post("/weights/{channel}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def save_weights(request: Request, channel: str, visits: Visits) -> Reply:
    """Say how vendors share a channel."""
    visit, fields = await visits.posted(request, writes=True)
    by_prefix = dict(line.partition(" ")[::2] for line in lines(fields, "by_prefix"))
    body = {
        "home": _points(fields.get("home", "")),
        "by_prefix": {prefix: _points(points) for prefix, points in by_prefix.items()},
    }
    try:
        await visit.api.call(
            "PUT", at(f"{_root(visit)}/weights/{{}}", channel), body=body, if_match=_version(fields)
        )
    except ApiProblemError as error:
        return await _weights(visit, error, {channel: Typed(fields=fields, errors=error.errors)})
    return redirect(f"{HERE}/weights?told=weights_saved#w-{channel}")


@vendors_pages.get("/codes", media_type=_HTML)
@answering_with_pages
async def show_codes(request: Request, visits: Visits) -> Reply:
    """What codes mean, those without a meaning first."""
    return await _codes(await visits.open(request))


@vendors_pages.post("/codes", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def map_code(request: Request, visits: Visits) -> Reply:
    """Give a code a meaning, and tell the receipts that were kept without one."""
    visit, fields = await visits.posted(request, writes=True)
    canonical = fields.get("canonical", "")
    path = _line(visit, fields)
    reason = text(fields, "reason") or USUAL_REASON.get(canonical, canonical)
    try:
        await visit.api.call(
            "PUT",
            path,
            body={"canonical": canonical, "reason": reason},
            if_match=await _own(visit, path, fields),
        )
        await visit.api.post(f"{path}/reapply")
    except ApiProblemError as error:
        return await _codes(visit, error)
    return redirect(f"{HERE}/codes?told=code_mapped")


@vendors_pages.post("/codes/remove", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def remove_line(request: Request, visits: Visits) -> Reply:
    """Let the platform's meaning count again."""
    visit, fields = await visits.posted(request, writes=True)
    await visit.api.call("DELETE", _line(visit, fields), if_match=_version(fields))
    return redirect(f"{HERE}/codes?told=line_removed")


@vendors_pages.get("/{account_id}", media_type=_HTML)
@answering_with_pages
async def show_account(request: Request, account_id: str, visits: Visits) -> Reply:
    """One account."""
    return await _account(await visits.open(request), account_id)


@vendors_pages.post("/{account_id}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def save_terms(request: Request, account_id: str, visits: Visits) -> Reply:
    """Say what it costs and how much it takes."""
    visit, fields = await visits.posted(request, writes=True)
    body = given(
        per_second=whole(fields, "per_second"), per_day=whole(fields, "per_day"), prices=_prices(fields)
    )
    try:
        await visit.api.call("PUT", _one(visit, account_id), body=body, if_match=_version(fields))
    except ApiProblemError as error:
        return await _account(visit, account_id, error, typed=Typed(fields=fields, errors=error.errors))
    return redirect(f"{HERE}/{account_id}?told=terms_saved")


@vendors_pages.post("/{account_id}/active", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def switch_account(request: Request, account_id: str, visits: Visits) -> Reply:
    """Switch it on or off."""
    visit, fields = await visits.posted(request, writes=True)
    await visit.api.call(
        "PATCH", _one(visit, account_id), body={"active": "active" in fields}, if_match=_version(fields)
    )
    return redirect(f"{HERE}/{account_id}?told={'account_on' if 'active' in fields else 'account_off'}")


@vendors_pages.post("/{account_id}/check", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def check_account(request: Request, account_id: str, visits: Visits) -> Reply:
    """Look step by step whether it works."""
    visit, _ = await visits.posted(request, writes=True)
    try:
        checked = await visit.api.post(f"{_one(visit, account_id)}/check", {"dry_call": True})
    except ApiProblemError as error:
        return await _account(visit, account_id, error)
    return await _account(visit, account_id, checked=checked)


@vendors_pages.post("/{account_id}/circuit", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def hold_circuit(request: Request, account_id: str, visits: Visits) -> Reply:
    """Hold its circuit open or closed."""
    visit, fields = await visits.posted(request, writes=True)
    body = given(state=text(fields, "state"), reason=text(fields, "reason"), until=moment_of(fields, "until"))
    try:
        await visit.api.post(at(f"{_root(visit)}/circuits/{{}}/override", account_id), body)
    except ApiProblemError as error:
        return await _account(visit, account_id, error)
    return redirect(f"{HERE}/{account_id}?told=circuit_held")


@vendors_pages.post("/{account_id}/circuit/let-go", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def let_circuit_go(request: Request, account_id: str, visits: Visits) -> Reply:
    """Let its circuit follow the counts again."""
    visit, _ = await visits.posted(request, writes=True)
    await visit.api.call("DELETE", at(f"{_root(visit)}/circuits/{{}}/override", account_id))
    return redirect(f"{HERE}/{account_id}?told=circuit_let_go")


async def _account(
    visit: Visit,
    account_id: str,
    error: ApiProblemError | None = None,
    *,
    typed: Typed | None = None,
    checked: dict[str, Any] | None = None,
) -> Reply:
    one = await visit.api.get(_one(visit, account_id))
    try:
        circuit = await visit.api.get(at(f"{_root(visit)}/circuits/{{}}", account_id))
    except ApiProblemError as missing:
        if missing.status != 404:
            raise
        circuit = None
    found = (await _calls(visit))["items"]
    calls = next((entry for entry in found if entry["account_id"] == account_id), None)
    told = visit.refused(error) if error else None
    return account_page(
        visit,
        one,
        circuit,
        calls,
        told=told,
        typed=typed,
        checked=checked,
        status=error.status if error else 200,
    )


async def _weights(
    visit: Visit, error: ApiProblemError | None = None, typed: Mapping[str, Typed] | None = None
) -> Reply:
    found = (await visit.api.get(f"{_root(visit)}/weights"))["items"]
    vendors: dict[str, list[str]] = {}
    for one in (await visit.api.get(f"{_root(visit)}/adapters"))["items"]:
        for channel in one["channels"]:
            vendors.setdefault(channel, []).append(one["vendor"])
    # A tenant's own are listed before the platform's, and count.
    known = {one["channel"]: one for one in reversed(found)}
    told = visit.refused(error) if error else None
    return weights_page(visit, known, vendors, told=told, typed=typed, status=error.status if error else 200)


async def _codes(visit: Visit, error: ApiProblemError | None = None) -> Reply:
    unknown = (await visit.api.get(f"{_root(visit)}/status-map/unknown"))["items"]
    known = await visit.api.get(
        f"{_root(visit)}/status-map",
        adapter=visit.query.get("adapter"),
        cursor=visit.query.get("cursor"),
        limit=50,
    )
    told = visit.refused(error) if error else None
    return codes_page(visit, unknown, known, told=told, status=error.status if error else 200)


async def _calls(visit: Visit) -> Any:
    """How a tenant's calls went; those of the platform's accounts belong to tenants."""
    if visit.tenant_is_missing:
        return {"items": [], "more": False}
    return await visit.api.get("/api/v1/router/adapters/calls")


async def _kinds(visit: Visit) -> list[dict[str, Any]]:
    return list((await visit.api.get(f"{_root(visit)}/adapters/kinds"))["items"])


async def _own(visit: Visit, path: str, fields: Fields) -> str | None:
    """The version that a change is made from: the one on the page, or that of a line that nobody listed."""
    if fields.get("version"):
        return _version(fields)
    try:
        answer = await visit.api.call("GET", path)
    except ApiProblemError as missing:
        if missing.status != 404:
            raise
        return None
    own = answer.data["platform" if visit.tenant_is_missing else "tenant"]
    return f'"v{own["version"]}"' if own else None


def _one(visit: Visit, account_id: str) -> str:
    return at(f"{_root(visit)}/adapters/{{}}", account_id)


def _line(visit: Visit, fields: Fields) -> str:
    code = fields.get("vendor_code", "-").replace("/", "~")
    return at(f"{_root(visit)}/status-map/{{}}/{{}}", fields.get("adapter", "-"), code)


def _version(fields: Fields) -> str | None:
    version = fields.get("version", "")
    return f'"v{version}"' if version.isdecimal() else None


def _points(typed: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word in typed.replace(",", " ").split():
        vendor, _, points = word.partition("=")
        found[vendor] = int(points) if points.isascii() and points.isdecimal() else points
    return found


def _prices(fields: Fields) -> dict[str, Any] | None:
    named = {ours: micros(fields, name) for name, ours in _PRICES.items()}
    by_prefix: dict[str, Any] = {}
    for line in lines(fields, "by_prefix"):
        prefix, *rest = line.split()
        parts = dict(word.partition("=")[::2] for word in rest)
        by_prefix[prefix] = {_PRICES.get(name, name): micros(parts, name) for name in parts}
    found = given(currency=text(fields, "currency"), by_prefix=by_prefix, **named)
    return found or None
