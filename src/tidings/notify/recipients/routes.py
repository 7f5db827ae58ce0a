"""Operations on recipients and their addresses."""

from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Resource
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import FieldError, InvalidError, MissingScopeError, RefusalError
from tidings.notify.recipients import store
from tidings.notify.recipients.change import LoadedRecipient, RecipientChanger, load_whole
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

recipients = Resource("recipients", at="/recipients", tag="recipients", scope="recipients")

_REVEAL = "recipients:write"


@recipients.post(
    status=201,
    also={200: RecipientView},
    problems=["recipient_not_found", "recipient_erased", "address_shared"],
    example={
        "identity": {"type": "guest", "id": "g-1"},
        "display_name": "Laila",
        "locale": "fa-AF",
        "addresses": [{"channel": "email", "address": "laila@example.test"}],
    },
)
async def upsert_recipient(
    tx: TenantTx, body: RecipientInput, upserter: RecipientUpserter, keyring: Keyring
) -> Answer[RecipientView]:
    """Make a recipient known, or bring it up to date.

    By `id`, by `identity`, or by addresses alone. `201` where it is new, `200` where it was known; doing it again
    changes nothing, so it needs no key for that. Addresses alone mean the one recipient who has them; `409
    address_shared` names the candidates where there are several. `"identity": {"type": "anonymous"}` beside them means
    somebody apart from those who have an identity.
    """
    result = (await upserter.upsert(tx, [spec_of(body)])).results[0]
    if isinstance(result, RefusalError):
        raise result
    whole = await load_whole(tx, result.recipient.id, keyring)
    return Answer(
        RecipientView.of(whole),
        version=whole.recipient.version,
        status=201 if result.created else 200,
        location=f"/api/v1/recipients/{whole.recipient.id}",
    )


@recipients.get()
async def list_recipients(
    tx: TenantTx, query: ListRecipients, paging: Paging, keyring: Keyring
) -> Page[RecipientView]:
    """List recipients, the newest first."""
    found = await _listed(tx, query, paging)
    keys = await keyring.data_keys(tx, [recipient.id for recipient in found], create=False)
    return paging.page(found, lambda recipient: RecipientView.brief(recipient, keys.get(recipient.id)))


@recipients.post("/lookup", writes=False)
async def look_up_recipients(
    tx: TenantTx, body: LookUpAddress, caller: Caller, finder: AddressFinder
) -> FoundRecipients:
    """Find recipients by an address.

    Everybody of the tenant who has the address now, with ids, identity and addresses as hints. Audited: who asked, and
    the hash of the address.
    """
    owners = await finder.owners(tx, channel=body.channel, address=body.address, actor=caller.actor)
    found = await finder.load(tx, owners.ids)
    return FoundRecipients(items=[RecipientView.of(whole) for whole in found], more=owners.more)


@recipients.get("/{recipient_id}", problems=["recipient_not_found"])
async def show_recipient(
    tx: TenantTx,
    recipient_id: RecipientId,
    query: ShowRecipient,
    caller: Caller,
    changer: RecipientChanger,
    keyring: Keyring,
) -> Answer[RecipientView]:
    """Show a recipient.

    Addresses are shown as hints. `reveal=true` shows them, needs `recipients:write` and is audited.
    """
    reveal = _reveals(query, caller)
    whole = await load_whole(tx, recipient_id, keyring)
    if reveal:
        await changer.reveal(tx, recipient_id, actor=caller.actor)
    return _shown(whole, reveal=reveal)


@recipients.patch("/{recipient_id}", problems=["recipient_not_found", "recipient_erased"])
async def update_recipient(
    tx: TenantTx,
    recipient_id: RecipientId,
    body: UpdateRecipient,
    if_match: IfMatch,
    caller: Caller,
    changer: RecipientChanger,
) -> Answer[RecipientView]:
    """Change a recipient; the version it is made from is named by If-Match."""
    whole = await changer.change(
        tx,
        recipient_id,
        body.spec(),
        expect=lambda known: if_match.expect(known.version),
        actor=caller.actor,
    )
    return _shown(whole)


@recipients.post(
    "/{recipient_id}/addresses",
    verb="add-address",
    status=201,
    problems=["recipient_not_found", "recipient_erased"],
)
async def add_address(
    tx: TenantTx,
    recipient_id: RecipientId,
    body: AddressInput,
    caller: Caller,
    changer: RecipientChanger,
    keyring: Keyring,
) -> AddressView:
    """Add an address, or change what is known of it.

    An address that is there already keeps its id; `primary: true` hands the mark over to it.
    """
    wrong: list[FieldError] = []
    addresses = addresses_of([body], "", wrong)
    if wrong:
        raise InvalidError(wrong)
    whole = await changer.change(
        tx, recipient_id, RecipientSpec(addresses=addresses), expect=lambda _: None, actor=caller.actor
    )
    mine = (await keyring.pepper(tx)).hash(addresses[0].address)
    added = next(a for a in whole.addresses if (a.channel, a.address_hash) == (addresses[0].channel, mine))
    return AddressView.of(added, whole.key, reveal=False, refusals=whole.refusals)


@recipients.get("/{recipient_id}/addresses", problems=["recipient_not_found"])
async def list_addresses(
    tx: TenantTx,
    recipient_id: RecipientId,
    query: ShowRecipient,
    caller: Caller,
    changer: RecipientChanger,
    keyring: Keyring,
) -> AddressList:
    """List a recipient's addresses.

    Shown as hints. `reveal=true` shows them, needs `recipients:write` and is audited.
    """
    reveal = _reveals(query, caller)
    whole = await load_whole(tx, recipient_id, keyring)
    if reveal:
        await changer.reveal(tx, recipient_id, actor=caller.actor)
    return AddressList(
        items=[AddressView.of(a, whole.key, reveal=reveal, refusals=whole.refusals) for a in whole.addresses]
    )


@recipients.delete(
    "/{recipient_id}/addresses/{address_id}",
    verb="delete-address",
    problems=["recipient_not_found", "address_not_found", "recipient_erased"],
)
async def remove_address(
    tx: TenantTx,
    recipient_id: RecipientId,
    address_id: RecipientAddressId,
    caller: Caller,
    changer: RecipientChanger,
) -> None:
    """Forget an address.

    Where it was primary, the oldest active one of its channel takes its place.
    """
    await changer.remove_address(tx, recipient_id, address_id, actor=caller.actor)


async def _listed(tx: TenantTx, query: ListRecipients, paging: Paging) -> list[Recipient]:
    after_id = paging.after_id
    if query.ids is not None:
        known = await store.find_recipients(tx, ids=query.named())
        newest = sorted(known.values(), key=lambda one: one.id, reverse=True)
        return [one for one in newest if after_id is None or one.id < after_id][: paging.fetch]
    if query.identity_id is None:
        return await store.list_recipients(
            tx, after_id=after_id, identity_type=query.identity_type, tag=query.tag, limit=paging.fetch
        )
    if query.identity_type is None:
        raise BadValueError("identity_type", "is required beside identity_id")
    # By its key, however many there are.
    named = Lookup(identities=[(0, tx.tenant_id, query.identity_type.value, query.identity_id)])
    found = [known.recipient for known in (await store.match_recipients(tx, named)).known.values()]
    return [r for r in found if after_id is None and (query.tag is None or query.tag in r.tags)]


def _reveals(query: ShowRecipient, caller: Caller) -> bool:
    """Whether addresses are to be shown in the clear; refused where the caller may not see them."""
    reveal = query.reveal == "true"
    if reveal and _REVEAL not in caller.scopes:
        raise MissingScopeError(_REVEAL)
    return reveal


def _shown(whole: LoadedRecipient, *, reveal: bool = False) -> Answer[RecipientView]:
    return Answer(RecipientView.of(whole, reveal=reveal), version=whole.recipient.version)
