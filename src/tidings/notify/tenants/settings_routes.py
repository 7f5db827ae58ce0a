"""Operations on what a tenant decides for itself."""

from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import AfterCommit
from tidings.kernel.http.resources import Resource
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.ids import TenantId
from tidings.notify.tenants.change_settings import SettingsChanger
from tidings.notify.tenants.settings_wire import SettingsView, UpdateSettings

settings = Resource("tenant-settings", at="/settings", tag="settings", scope="channels")


@settings.get(verb="show", test_keys=True)
async def show_settings(
    tenant_id: TenantId, caller: Caller, changer: SettingsChanger
) -> Answer[SettingsView]:
    """Show your settings: languages, quiet hours, limits, links, preferences, tracking."""
    known = await changer.read(tenant_id, caller)
    return Answer(SettingsView.of(known), version=known.version)


@settings.patch(verb="update", problems=["tenant_leaving"])
async def update_settings(
    tenant_id: TenantId,
    body: UpdateSettings,
    if_match: IfMatch,
    caller: Caller,
    changer: SettingsChanger,
    gate: TenantGate,
    after_commit: AfterCommit,
) -> Answer[SettingsView]:
    """Change your settings; the version that a change is made from is named by If-Match.

    Senders that you may use, and how much you send in a second or a day, are the platform's to grant.
    """
    after_commit(lambda: gate.forget(tenant_id))
    done = await changer.change(
        tenant_id, body, caller=caller, expect=lambda known: if_match.expect(known.version)
    )
    return Answer(SettingsView.of(done), version=done.version)
