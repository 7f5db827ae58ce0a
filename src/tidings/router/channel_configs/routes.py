"""Operations on vendor accounts: of a tenant, and under `/internal` of the platform."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.hot_state import Limits, Take
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import OpenTx, OwnerTx
from tidings.kernel.http.own_address import OwnAddress
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.limit_windows import SlidingWindow
from tidings.router.accounts import store
from tidings.router.accounts.errors import PlatformAccountError, TooManyChecksError
from tidings.router.accounts.model import AdapterConfigId, StoredAccount
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.channel_configs.calls_wire import MOST_ATTEMPTS, CallsQuery, CallsView
from tidings.router.channel_configs.change_account import AccountChanger
from tidings.router.channel_configs.check import AccountChecker
from tidings.router.channel_configs.check_wire import AdapterCheck, CheckAdapter
from tidings.router.channel_configs.configure import AccountTerms, AdapterConfigs
from tidings.router.channel_configs.hook import hook_of
from tidings.router.channel_configs.wire import (
    AdapterList,
    AdapterView,
    CreateAdapter,
    KindList,
    KindView,
    PatchAdapter,
    PutAdapter,
)
from tidings.router.traffic.call_history import sum_calls
from tidings.router.traffic.store import find_circuits, find_weights

adapters = Resource(
    "adapters", at="/router/adapters", tag="adapters", scope="router", owner=Owner.TENANT_OR_PLATFORM
)

_ONE = "/{adapter_id}"
#: Checks of one tenant, or of the platform: each makes us call a host of their choice.
_CHECK_LIMIT: Final = SlidingWindow(limit=60, window=timedelta(hours=1))


@adapters.get(test_keys=True)
async def list_adapters(tx: OwnerTx, own_address: OwnAddress) -> AdapterList:
    """List vendor accounts with what they can do, cost and take, their circuits and weights.

    A tenant's own, then the platform's that it may use; its own win over those.
    """
    accounts = await store.find_accounts(tx)
    ordered = sorted(accounts, key=lambda account: (account.platform, account.vendor, account.id))
    return AdapterList(items=await _views(tx, ordered, own_address))


@adapters.get("/kinds", test_keys=True)
async def list_adapter_kinds() -> KindList:
    """List all kinds of vendors with what they can do and what their accounts need."""
    return KindList(items=[KindView.of(kind) for _, kind in sorted(ADAPTERS.items())])


@adapters.get("/calls", verb="calls", owner=Owner.TENANT)
async def sum_adapter_calls(tx: TenantTx, query: CallsQuery, clock: Clock) -> CallsView:
    """Show how the calls to your vendors went, by account and hour: how many, how many failed, how long they took."""
    since = clock.now() - timedelta(hours=query.hours)
    return CallsView.of(await sum_calls(tx, since=since, most=MOST_ATTEMPTS), since)


@adapters.get(_ONE, test_keys=True, problems=["adapter_not_found"])
async def show_adapter(
    tx: OwnerTx, adapter_id: AdapterConfigId, own_address: OwnAddress
) -> Answer[AdapterView]:
    """Show a vendor account."""
    return await _shown(tx, await store.find_account(tx, adapter_id), own_address)


@adapters.put(_ONE, problems=["adapter_not_found", "platform_account"])
async def put_adapter(
    tx: OwnerTx,
    adapter_id: AdapterConfigId,
    body: PutAdapter,
    if_match: IfMatch,
    caller: Caller,
    configs: AdapterConfigs,
    own_address: OwnAddress,
) -> Answer[AdapterView]:
    """Say what a vendor account costs and how much it takes.

    Whole: what is left out has no price, or no limit. Seen by all processes within a second.
    """
    after = await configs.set_terms(
        tx,
        adapter_id,
        AccountTerms(prices=body.prices, per_second=body.per_second, per_day=body.per_day),
        expect=lambda known: if_match.expect(known.version),
        actor=caller.actor,
    )
    return await _shown(tx, after, own_address)


@adapters.post(status=201, attested="credential.change", problems=["adapter_exists", "secrets_unavailable"])
async def create_adapter(
    open_tx: OpenTx[OwnerTx],
    body: CreateAdapter,
    caller: Caller,
    keeper: AccountChanger,
    own_address: OwnAddress,
) -> Answer[AdapterView]:
    """Make a vendor account.

    Of the tenant's own, or under `/internal` of the platform, which all tenants may send through. Its settings are
    read before it is written, and refused by name where the adapter can't use them; the vendor is not asked (`POST
    …/{adapter_id}/check` does that). An owner has one account with each vendor.
    """
    after = await keeper.add(open_tx, caller.tenant_id, body.command(), actor=caller.actor)
    async with open_tx() as tx:
        return await _shown(tx, after, own_address)


@adapters.patch(
    _ONE,
    attested="credential.change",
    attested_when=lambda body: body.secret_ref is not None,
    problems=["adapter_not_found", "platform_account", "secrets_unavailable"],
)
async def patch_adapter(
    open_tx: OpenTx[OwnerTx],
    adapter_id: AdapterConfigId,
    body: PatchAdapter,
    if_match: IfMatch,
    caller: Caller,
    keeper: AccountChanger,
    own_address: OwnAddress,
) -> Answer[AdapterView]:
    """Switch a vendor account off or on, or let it read its settings anew.

    Accounts are never deleted: `active` is how one is taken away. What would go through one that is off takes the
    next vendor, or waits as for an open circuit; callbacks about what it sent still count. A tenant's own that is off
    makes room for the platform's with the same vendor. Seen by all processes within a second.
    """
    after = await keeper.change(
        open_tx,
        caller.tenant_id,
        adapter_id,
        body.change(),
        expect=lambda known: if_match.expect(known.version),
        actor=caller.actor,
    )
    async with open_tx() as tx:
        return await _shown(tx, after, own_address)


@adapters.post(f"{_ONE}/check", problems=["adapter_not_found", "platform_account", "too_many_checks"])
async def check_adapter(
    open_tx: OpenTx[OwnerTx],
    adapter_id: AdapterConfigId,
    caller: Caller,
    limits: Limits,
    checker: AccountChecker,
    body: CheckAdapter = CheckAdapter(),  # noqa: B008  # frozen
) -> AdapterCheck:
    """Look step by step whether a vendor account works, and send nothing.

    Its secret, its settings, the vendor's name, address and port, the credentials, callbacks; with `dry_call` what
    the vendor would say to a message, where it can be asked that. A tenant looks at its own accounts. At most 60
    times an hour.
    """
    async with open_tx() as tx:
        account = await store.find_account(tx, adapter_id)
    if account.platform and caller.tenant_id is not None:
        raise PlatformAccountError
    (taken,) = await limits.take(caller.tenant_id, [[Take(key="adapter_check", limit=_CHECK_LIMIT)]])
    if not taken.granted:
        raise TooManyChecksError
    checked = await checker.check(account, caller.tenant_id, dry_call=body.call())
    return AdapterCheck.of(account, checked)


async def _views(
    tx: OwnerTx, accounts: Sequence[StoredAccount], own_address: OwnAddress
) -> list[AdapterView]:
    circuits = {circuit.account_id: circuit for circuit in await find_circuits(tx)}
    weights = {weight.channel: weight for weight in reversed(await find_weights(tx)) if weight.home}
    return [
        AdapterView.of(
            account,
            circuits.get(account.id),
            list(weights.values()),
            hook_of(account, own_address.public_url),
        )
        for account in accounts
    ]


async def _shown(tx: OwnerTx, account: StoredAccount, own_address: OwnAddress) -> Answer[AdapterView]:
    (view,) = await _views(tx, [account], own_address)
    return Answer(view, version=view.version)
