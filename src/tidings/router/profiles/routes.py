"""Operations on profiles: what was learned about reaching a recipient."""

from tidings.contracts.ids import RecipientId
from tidings.contracts.profiles import KnownRecipients
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Resource
from tidings.router.profiles import store
from tidings.router.profiles.change import ProfileChanger, expect_known
from tidings.router.profiles.wire import ListProfiles, PatchProfile, ProfileView

profiles = Resource("profiles", at="/router/profiles", tag="profiles", scope="router")

_ONE = "/{recipient_id}"


@profiles.get()
async def list_profiles(tx: TenantTx, query: ListProfiles, paging: Paging, clock: Clock) -> Page[ProfileView]:
    """List profiles, the newest first.

    `discovery_state` shows those only who are known so well: `UNSEEN`, `LEARNING` or `STABLE`.
    """
    rows = await store.list_profiles(
        tx, discovery=query.discovery_state, after_id=paging.after_id, limit=paging.fetch
    )
    return paging.page(rows, lambda profile: ProfileView.of(profile, clock.now()))


@profiles.get(_ONE, problems=["profile_not_found"])
async def show_profile(
    tx: TenantTx, recipient_id: RecipientId, recipients: KnownRecipients, clock: Clock
) -> Answer[ProfileView]:
    """Show what was learned about reaching a recipient.

    How likely a message arrives on each channel, as of now, and what is known for certain. Somebody of whom nothing
    was observed yet is `UNSEEN`, with the version 0.
    """
    profile = (await store.load(tx, [recipient_id])).get(recipient_id)
    if profile is None:
        await expect_known(recipients, tx, recipient_id)
        return _shown(ProfileView.unseen(recipient_id))
    return _shown(ProfileView.of(profile, clock.now()))


@profiles.patch(_ONE, if_match="optional", problems=["profile_not_found"])
async def change_profile(
    tx: TenantTx,
    recipient_id: RecipientId,
    body: PatchProfile,
    if_match: IfMatch,
    caller: Caller,
    changer: ProfileChanger,
    clock: Clock,
) -> Answer[ProfileView]:
    """Say by hand what is known about reaching a recipient.

    Of each fact the later word counts: one with an `observed_at` before what is known changes nothing. So `If-Match`
    may be left out. Audited.
    """
    facts, at = body.told(clock.now())
    changed = await changer.tell(tx, recipient_id, facts, at=at, expect=if_match.expect, actor=caller.actor)
    return _shown(ProfileView.of(changed, clock.now()))


@profiles.delete(_ONE, if_match="optional", problems=["profile_not_found"])
async def forget_profile(
    tx: TenantTx, recipient_id: RecipientId, if_match: IfMatch, caller: Caller, changer: ProfileChanger
) -> None:
    """Forget what was learned about reaching a recipient.

    The recipient stays, and what comes next is learned anew; forgetting again changes nothing. Audited. Erasing the
    recipient forgets it for good.
    """
    await changer.forget(tx, recipient_id, expect=if_match.expect, actor=caller.actor)


def _shown(view: ProfileView) -> Answer[ProfileView]:
    return Answer(view, version=view.version)
