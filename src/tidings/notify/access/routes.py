"""Operations on API keys: of a tenant, or of the platform."""

from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import AfterCommit, OwnerTx
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.notify.access import store
from tidings.notify.access.authenticate import KeyAuthenticator
from tidings.notify.access.create import create_key
from tidings.notify.access.errors import UnknownKeyError
from tidings.notify.access.ledger import KeyLedger
from tidings.notify.access.model import ApiKey, credential
from tidings.notify.access.revoke import revoke_key
from tidings.notify.access.rotate import rotate_key
from tidings.notify.access.wire import CreateKey, KeyView, NewKey, RotateKey
from tidings.notify.ids import ApiKeyId

api_keys = Resource("api-keys", at="/api-keys", tag="api keys", scope="api_keys", owner=Owner.CALLER)

_LISTING = "api_keys"
#: What operators attest; a key goes on when their session has ended.
_MAKES_KEY = "api_key.make"
#: A secret must not stay in a cache.
_NO_STORE = {"Cache-Control": "no-store"}


@api_keys.post(status=201, idempotent=True, attested=_MAKES_KEY, problems=["escalation"])
async def create_api_key(
    tx: OwnerTx, body: CreateKey, caller: Caller, ledger: KeyLedger, clock: Clock
) -> Answer[NewKey]:
    """Create a key; its secret is shown this once.

    With a platform key: a key of the platform, or of the tenant that X-Tenant-Id names.
    """
    key, secret = await create_key(
        tx, body.spec(), grantor=caller, actor=caller.actor, ledger=ledger, clock=clock
    )
    return _new_key(key, secret, clock)


@api_keys.get(listing=_LISTING)
async def list_api_keys(tx: OwnerTx, paging: Paging, clock: Clock) -> Page[KeyView]:
    """List keys, the newest first; never their secrets."""
    keys = await store.list_keys(tx, after_id=paging.after_id, limit=paging.fetch)
    return paging.page(keys, lambda key: KeyView.of(key, clock.now()))


@api_keys.get("/{key_id}", problems=["key_not_found"])
async def show_api_key(tx: OwnerTx, key_id: ApiKeyId, clock: Clock) -> KeyView:
    """Show a key; never its secret."""
    key = await store.find_key(tx, key_id=key_id)
    if key is None:
        raise UnknownKeyError
    return KeyView.of(key, clock.now())


@api_keys.post(
    "/{key_id}/rotate",
    status=201,
    idempotent=True,
    attested=_MAKES_KEY,
    problems=["key_not_found", "key_already_rotated", "key_ended", "escalation"],
)
async def rotate_api_key(
    tx: OwnerTx,
    key_id: ApiKeyId,
    body: RotateKey,
    caller: Caller,
    ledger: KeyLedger,
    keys: KeyAuthenticator,
    clock: Clock,
    after_commit: AfterCommit,
) -> Answer[NewKey]:
    """Give a key a successor; both work until the overlap ends."""
    after_commit(lambda: keys.forget(key_id))
    key, secret = await rotate_key(
        tx,
        key_id,
        overlap=timedelta(seconds=body.overlap_seconds),
        expires_at=body.expires_at,
        grantor=caller,
        ledger=ledger,
        clock=clock,
    )
    return _new_key(key, secret, clock)


# A leaked key must be ended even while its tenant is frozen: it is no write.
@api_keys.delete(
    "/{key_id}",
    verb="revoke",
    scope="api_keys:write",
    writes=False,
    problems=["key_not_found", "escalation"],
)
async def revoke_api_key(
    tx: OwnerTx,
    key_id: ApiKeyId,
    caller: Caller,
    ledger: KeyLedger,
    keys: KeyAuthenticator,
    clock: Clock,
    after_commit: AfterCommit,
) -> KeyView:
    """Revoke a key; it stops working everywhere within a second."""
    after_commit(lambda: keys.forget(key_id))
    key = await revoke_key(tx, key_id, actor=caller.actor, ledger=ledger, clock=clock, revoker=caller)
    return KeyView.of(key, clock.now())


def _new_key(key: ApiKey, secret: str, clock: Clock) -> Answer[NewKey]:
    shown = NewKey(api_key=credential(key.id, secret), key=KeyView.of(key, clock.now()))
    return Answer(shown, location=f"/api/v1/api-keys/{key.id}", headers=_NO_STORE, again=shown.again())
