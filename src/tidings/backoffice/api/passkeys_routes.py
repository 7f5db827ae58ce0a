"""Operations on one's own passkeys; adding and removing one needs an attestation."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from tidings.backoffice.attestations.attest import HEADER, Attestor, seat_of
from tidings.backoffice.ids import PasskeyId
from tidings.backoffice.passkeys.answers import MOST_CHARACTERS
from tidings.backoffice.passkeys.challenge import PasskeyChallenger
from tidings.backoffice.passkeys.model import PasskeyKind
from tidings.backoffice.sign_in.own_passkeys import OwnPasskeys
from tidings.contracts.moments import Moment
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import ANY_CALLER, Caller
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.mapping import by_name

passkeys = Resource("passkeys", at="/passkeys", tag="sessions", owner=Owner.OPERATOR)

_NO_STORE: Final = {"Cache-Control": "no-store"}
_ATTESTED: Final = ["attestation_required", "operators_only"]


class AskForPasskey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the challenge is for."""

    #: `register`: to make a passkey; `prove`: to show one, in the place of a code.
    purpose: Literal["register", "prove"]


class PasskeyChallenge(Struct, frozen=True, kw_only=True):
    """What the browser is to answer, once, within five minutes."""

    #: For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`.
    public_key: dict[str, Any]


class AddPasskey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the browser has made."""

    #: The credential's `toJSON()`, as a text.
    credential: Annotated[str, Meta(min_length=2, max_length=MOST_CHARACTERS)]


class PasskeyView(Struct, frozen=True, kw_only=True):
    """A passkey of one's own."""

    id: str
    #: `this_device`: of a computer or telephone; `security_key`: a key of its own.
    kind: PasskeyKind
    #: Whether the authenticator copies it to your other devices.
    is_synced: bool
    created_at: Moment
    last_used_at: Moment | None


class PasskeyList(Struct, frozen=True, kw_only=True):
    """One's own, ten at most."""

    items: list[PasskeyView]


@passkeys.get(scope=ANY_CALLER, problems=["operators_only"])
async def list_passkeys(caller: Caller, own: OwnPasskeys) -> PasskeyList:
    """List your passkeys, the newest first."""
    return PasskeyList(items=[by_name(PasskeyView, one) for one in await own.read(caller)])


@passkeys.post("/challenges", scope=ANY_CALLER, writes=False, problems=["operators_only"])
async def ask_for_passkey(
    body: AskForPasskey, caller: Caller, own: OwnPasskeys, challenger: PasskeyChallenger
) -> Answer[PasskeyChallenge]:
    """Make a challenge for your browser; its answer works once, within five minutes."""
    seat = seat_of(caller)
    if body.purpose == "register":
        asked = await own.ask(caller)
    else:
        asked = await challenger.to_prove(caller.home, seat.operator_id)
    return Answer(PasskeyChallenge(public_key=asked), headers=_NO_STORE)


@passkeys.post(
    status=201,
    scope=ANY_CALLER,
    writes=False,
    headers=[HEADER],
    problems=["passkey_refused", "too_many_passkeys", *_ATTESTED],
)
async def add_passkey(
    request: Request, body: AddPasskey, caller: Caller, own: OwnPasskeys, attestor: Attestor
) -> Answer[PasskeyView]:
    """Add the passkey that your browser has made: it signs you in, and stands in the place of codes.

    Somebody without any second factor, who signed in within a quarter of an hour, adds the first without an attestation.
    """
    if await own.needs_proof(caller):
        await attestor.take(caller, "passkey.add", request.header(HEADER))
    return Answer(by_name(PasskeyView, await own.add(caller, body.credential)))


@passkeys.delete(
    "/{passkey_id}",
    scope=ANY_CALLER,
    writes=False,
    headers=[HEADER],
    problems=["passkey_not_found", *_ATTESTED],
)
async def remove_passkey(
    request: Request, passkey_id: PasskeyId, caller: Caller, own: OwnPasskeys, attestor: Attestor
) -> None:
    """Remove one of your passkeys."""
    await attestor.take(caller, "passkey.remove", request.header(HEADER))
    await own.remove(caller, passkey_id)
