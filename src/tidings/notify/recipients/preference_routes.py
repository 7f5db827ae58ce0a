"""Operations on a recipient's preferences."""

from collections.abc import Callable

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.notify.categories.registry import Categories
from tidings.notify.recipients import preference_store, store
from tidings.notify.recipients.change_preferences import PreferenceChanger
from tidings.notify.recipients.preferences_model import Choices, Preferences, nothing_chosen
from tidings.notify.recipients.wire import PreferencesView, UpdatePreferences

preferences = Resource("recipients", at="/recipients", tag="preferences", scope="recipients")

_PATH = "/{recipient_id}/preferences"
_PROBLEMS = ("recipient_not_found", "recipient_erased")


@preferences.get(_PATH, problems=["recipient_not_found"])
async def show_preferences(tx: TenantTx, recipient_id: RecipientId) -> Answer[PreferencesView]:
    """Show what a recipient allows.

    Somebody who never chose has version 0, and that is an ETag to change from.
    """
    await store.find_recipient(tx, recipient_id)
    found = await preference_store.load_preferences(tx, recipient_ids=[recipient_id])
    return _shown(found.get(recipient_id) or nothing_chosen(recipient_id))


@preferences.put(_PATH, problems=_PROBLEMS)
async def replace_preferences(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    recipient_id: RecipientId,
    body: Choices,
    if_match: IfMatch,
    caller: Caller,
    changer: PreferenceChanger,
    categories: Categories,
) -> Answer[PreferencesView]:
    """Replace what a recipient allows; the version it is made from is named by If-Match.

    What is left out goes back to its default; consent too.
    """
    make = _from_version(if_match, lambda _: body)
    known = await categories.of(tenant_id)
    async with open_tx() as tx:
        return _shown(await changer.change(tx, recipient_id, make, categories=known, actor=caller.actor))


@preferences.patch(_PATH, problems=_PROBLEMS)
async def update_preferences(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    recipient_id: RecipientId,
    body: UpdatePreferences,
    if_match: IfMatch,
    caller: Caller,
    changer: PreferenceChanger,
    categories: Categories,
) -> Answer[PreferencesView]:
    """Change some of what a recipient allows; the version it is made from is named by If-Match.

    What is left out stays; a field that is given is replaced whole.
    """
    make = _from_version(if_match, lambda before: body.over(before.choices))
    known = await categories.of(tenant_id)
    async with open_tx() as tx:
        return _shown(await changer.change(tx, recipient_id, make, categories=known, actor=caller.actor))


def _from_version(
    if_match: IfMatch, wanted: Callable[[Preferences], Choices]
) -> Callable[[Preferences], Choices]:
    """The same change, refused where it is made from another version than the present one."""

    def make(before: Preferences) -> Choices:
        if_match.expect(before.version)
        return wanted(before)

    return make


def _shown(known: Preferences) -> Answer[PreferencesView]:
    return Answer(PreferencesView.of(known), version=known.version)
