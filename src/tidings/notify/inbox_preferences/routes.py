"""Operations of a person on what they hear, and where, with an inbox token."""

from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import OWN_INBOX, Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.notify.inbox.desk import InboxVisitor
from tidings.notify.inbox_preferences.desk import InboxPreferencesDesk
from tidings.notify.inbox_preferences.wire import (
    ChangeInboxPreferences,
    InboxPreferencesQuery,
    InboxPreferencesView,
)

own_inbox_preferences = Resource("own-inbox", at="/inbox", tag="inbox (with an inbox token)", any_origin=True)


@own_inbox_preferences.get("/preferences", verb="preferences", scope=OWN_INBOX)
async def show_own_preferences(
    caller: Caller, tenant_id: TenantId, query: InboxPreferencesQuery, desk: InboxPreferencesDesk
) -> Answer[InboxPreferencesView]:
    """Show which messages you hear, and where: category by category, channel by channel.

    What can't be refused is shown as locked. A token of a test key opens no preferences: they hold for live messages.
    """
    view = await desk.show(tenant_id, InboxVisitor.owner(caller, tenant_id), query.locale)
    return Answer(view, version=view.version)


@own_inbox_preferences.patch(
    "/preferences",
    verb="choose",
    scope=OWN_INBOX,
    problems=["recipient_erased", "too_many_preference_changes"],
)
async def change_own_preferences(
    caller: Caller,
    tenant_id: TenantId,
    query: InboxPreferencesQuery,
    body: ChangeInboxPreferences,
    if_match: IfMatch,
    desk: InboxPreferencesDesk,
) -> Answer[InboxPreferencesView]:
    """Change some of what you hear; the version it is made from is named by If-Match.

    The rules are those of the preference pages: what is always sent can't be refused, and the first yes to what needs consent
    gives it, with the source `inbox`. Saying the same again changes nothing.
    """
    view = await desk.change(tenant_id, InboxVisitor.owner(caller, tenant_id), body, if_match, query.locale)
    return Answer(view, version=view.version)
