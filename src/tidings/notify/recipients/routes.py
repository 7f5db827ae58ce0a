"""What HTTP calls about recipients and their addresses."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response, Router, delete, get, patch, post

from tidings.contracts.ids import RECIPIENT, RECIPIENT_ADDRESS
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, page_of, read_cursor
from tidings.kernel.refusals import FieldError, InvalidError, MissingScopeError, RefusalError
from tidings.notify.recipients import consent_routes, preference_routes, store
from tidings.notify.recipients.change import LoadedRecipient, RecipientChanger, load_whole
from tidings.notify.recipients.deps import Deps
from tidings.notify.recipients.lookup import AddressFinder
from tidings.notify.recipients.model import Recipient
from tidings.notify.recipients.recipient_input import (
    AddressInput,
    RecipientInput,
    RecipientSpec,
    addresses_of,
    spec_of,
)
from tidings.notify.recipients.store import Lookup
from tidings.notify.recipients.upsert import RecipientUpserter
from tidings.notify.recipients.wire import (
    AddressList,
    AddressView,
    FoundRecipients,
    ListRecipients,
    LookUpAddress,
    RecipientView,
    ShowRecipient,
    UpdateRecipient,
)

_TAG = "recipients"
_LISTING = "recipients"
_ID = "recipient_id"
_PATH = {_ID: RECIPIENT}
_REVEAL = "recipients:write"

AnyRequest = Request[Any, Any, Any]


@post(
    "/",
    **operation(
        summary="Make a recipient known, or bring it up to date.",
        tag=_TAG,
        scope="recipients:write",
        body=RecipientInput,
        answer=RecipientView,
        status=201,
        also={200: RecipientView},
        problems=["recipient_not_found", "recipient_erased", "address_shared"],
        description='By `id`, by `identity`, or by addresses alone. `201` where it is new, `200` where it was known; doing it again changes nothing, so it needs no key for that. Addresses alone mean the one recipient who has them; `409 address_shared` names the candidates where there are several. `"identity": {"type": "anonymous"}` beside them means somebody apart from those who have an identity.',
        example={
            "identity": {"type": "guest", "id": "g-1"},
            "display_name": "Laila",
            "locale": "fa-AF",
            "addresses": [{"channel": "email", "address": "laila@example.test"}],
        },
    ),
)
async def upsert_recipient(request: AnyRequest) -> Response[RecipientView]:
    """Make a recipient known."""
    deps = deps_of(request, Deps)
    wish = spec_of(await read_body(request, RecipientInput))
    async with _tenant(request) as tx:
        upserter = RecipientUpserter(keyring=deps.keyring, mailboxes=deps.mailboxes, clock=deps.clock)
        result = (await upserter.upsert(tx, [wish])).results[0]
        if isinstance(result, RefusalError):
            raise result
        whole = await load_whole(tx, result.recipient.id, deps.keyring)
    return Response(
        RecipientView.of(whole),
        status_code=201 if result.created else 200,
        headers={
            "ETag": etag(whole.recipient.version),
            "Location": f"/api/v1/recipients/{whole.recipient.id}",
        },
    )


@get(
    "/",
    **operation(
        summary="List recipients, the newest first.",
        tag=_TAG,
        scope="recipients:read",
        query=ListRecipients,
        answer=Page[RecipientView],
    ),
)
async def list_recipients(request: AnyRequest) -> Page[RecipientView]:
    """List recipients."""
    deps = deps_of(request, Deps)
    query = read_query(request, ListRecipients)
    async with _tenant(request) as tx:
        found = await _listed(tx, query)
        keys = await deps.keyring.data_keys(tx, [recipient.id for recipient in found], create=False)
    return page_of(
        found,
        limit=query.limit,
        listing=_LISTING,
        id_of=lambda recipient: recipient.id,
        render=lambda recipient: RecipientView.brief(recipient, keys.get(recipient.id)),
    )


@post(
    "/lookup",
    **operation(
        summary="Find recipients by an address.",
        tag=_TAG,
        scope="recipients:read",
        writes=False,
        body=LookUpAddress,
        answer=FoundRecipients,
        description="Everybody of the tenant who has the address now, with ids, identity and addresses as hints. Audited: who asked, and the hash of the address.",
    ),
)
async def look_up_recipients(request: AnyRequest) -> FoundRecipients:
    """Find recipients by an address."""
    deps = deps_of(request, Deps)
    wanted = await read_body(request, LookUpAddress)
    finder = AddressFinder(keyring=deps.keyring, audit=deps.audit)
    async with _tenant(request) as tx:
        owners = await finder.owners(
            tx, channel=wanted.channel, address=wanted.address, actor=caller_of(request).actor
        )
        found = await finder.load(tx, owners.ids)
    return FoundRecipients(items=[RecipientView.of(whole) for whole in found], more=owners.more)


@get(
    "/{recipient_id:str}",
    **operation(
        summary="Show a recipient.",
        tag=_TAG,
        scope="recipients:read",
        path=_PATH,
        query=ShowRecipient,
        answer=RecipientView,
        problems=["recipient_not_found"],
        description="Addresses are shown as hints. `reveal=true` shows them, needs `recipients:write` and is audited.",
    ),
)
async def show_recipient(request: AnyRequest) -> Response[RecipientView]:
    """Show a recipient."""
    whole, reveal = await _load(request)
    return _shown(whole, reveal=reveal)


@patch(
    "/{recipient_id:str}",
    **operation(
        summary="Change a recipient; the version it is made from is named by If-Match.",
        tag=_TAG,
        scope="recipients:write",
        path=_PATH,
        body=UpdateRecipient,
        answer=RecipientView,
        headers=["If-Match"],
        problems=["recipient_not_found", "recipient_erased"],
    ),
)
async def update_recipient(request: AnyRequest) -> Response[RecipientView]:
    """Change a recipient."""
    wish = (await read_body(request, UpdateRecipient)).wish()
    async with _tenant(request) as tx:
        whole = await _changer(request).change(
            tx,
            path_id(request, RECIPIENT, _ID),
            wish,
            expect=lambda known: expect_version(request.scope, known.version),
            actor=caller_of(request).actor,
        )
    return _shown(whole)


@post(
    "/{recipient_id:str}/addresses",
    **operation(
        summary="Add an address, or change what is known of it.",
        tag=_TAG,
        scope="recipients:write",
        path=_PATH,
        body=AddressInput,
        answer=AddressView,
        status=201,
        problems=["recipient_not_found", "recipient_erased"],
        description="An address that is there already keeps its id; `primary: true` hands the mark over to it.",
    ),
)
async def add_address(request: AnyRequest) -> AddressView:
    """Add an address."""
    deps = deps_of(request, Deps)
    recipient_id = path_id(request, RECIPIENT, _ID)
    wanted = await read_body(request, AddressInput)
    wrong: list[FieldError] = []
    addresses = addresses_of([wanted], "", wrong)
    if wrong:
        raise InvalidError(wrong)
    async with _tenant(request) as tx:
        whole = await _changer(request).change(
            tx,
            recipient_id,
            RecipientSpec(addresses=addresses),
            expect=lambda _: None,
            actor=caller_of(request).actor,
        )
        mine = (await deps.keyring.pepper(tx)).hash(addresses[0].address)
    added = next(a for a in whole.addresses if (a.channel, a.address_hash) == (addresses[0].channel, mine))
    return AddressView.of(added, whole.key, reveal=False, refusals=whole.refusals)


@get(
    "/{recipient_id:str}/addresses",
    **operation(
        summary="List a recipient's addresses.",
        tag=_TAG,
        scope="recipients:read",
        path=_PATH,
        query=ShowRecipient,
        answer=AddressList,
        problems=["recipient_not_found"],
        description="Shown as hints. `reveal=true` shows them, needs `recipients:write` and is audited.",
    ),
)
async def list_addresses(request: AnyRequest) -> AddressList:
    """List a recipient's addresses."""
    whole, reveal = await _load(request)
    return AddressList(
        items=[AddressView.of(a, whole.key, reveal=reveal, refusals=whole.refusals) for a in whole.addresses]
    )


@delete(
    "/{recipient_id:str}/addresses/{address_id:str}",
    **operation(
        summary="Forget an address.",
        tag=_TAG,
        scope="recipients:write",
        path={**_PATH, "address_id": RECIPIENT_ADDRESS},
        status=204,
        problems=["recipient_not_found", "address_not_found", "recipient_erased"],
        description="Where it was primary, the oldest active one of its channel takes its place.",
    ),
)
async def remove_address(request: AnyRequest) -> None:
    """Forget an address."""
    recipient_id = path_id(request, RECIPIENT, _ID)
    address_id = path_id(request, RECIPIENT_ADDRESS, "address_id")
    async with _tenant(request) as tx:
        await _changer(request).remove_address(tx, recipient_id, address_id, actor=caller_of(request).actor)


async def _listed(tx: TenantTx, query: ListRecipients) -> list[Recipient]:
    after = read_cursor(query.cursor, listing=_LISTING)
    if query.identity_id is None:
        return await store.list_recipients(
            tx,
            after_id=after.id if after else None,
            identity_type=query.identity_type,
            tag=query.tag,
            limit=query.limit + 1,
        )
    if query.identity_type is None:
        raise BadValueError("identity_type", "is required beside identity_id")
    # By its key, however many there are.
    named = Lookup(identities=[(0, query.identity_type.value, query.identity_id)])
    known = [known.recipient for known in (await store.match_recipients(tx, named)).known.values()]
    return [r for r in known if after is None and (query.tag is None or query.tag in r.tags)]


async def _load(request: AnyRequest) -> tuple[LoadedRecipient, bool]:
    recipient_id = path_id(request, RECIPIENT, _ID)
    reveal = read_query(request, ShowRecipient).reveal == "true"
    caller = caller_of(request)
    if reveal and _REVEAL not in caller.scopes:
        raise MissingScopeError(_REVEAL)
    async with _tenant(request) as tx:
        whole = await load_whole(tx, recipient_id, deps_of(request, Deps).keyring)
        if reveal:
            await _changer(request).reveal(tx, recipient_id, actor=caller.actor)
    return whole, reveal


def _shown(whole: LoadedRecipient, *, reveal: bool = False) -> Response[RecipientView]:
    return Response(RecipientView.of(whole, reveal=reveal), headers={"ETag": etag(whole.recipient.version)})


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def _changer(request: AnyRequest) -> RecipientChanger:
    deps = deps_of(request, Deps)
    return RecipientChanger(
        keyring=deps.keyring, mailboxes=deps.mailboxes, audit=deps.audit, clock=deps.clock
    )


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    handlers = [
        upsert_recipient,
        list_recipients,
        look_up_recipients,
        show_recipient,
        update_recipient,
        add_address,
        list_addresses,
        remove_address,
        *preference_routes.HANDLERS,
        *consent_routes.HANDLERS,
    ]
    return [Router("/api/v1/recipients", route_handlers=handlers, opt=given(deps))]
