"""command_status → what it means for the message (SMPP 3.4, 5.1.3; those of 5.0 that are seen as well)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tidings.contracts.messages import Outcome, Refused, TryLater
from tidings.router.adapters.kind import StatusSeed

#: `throttled` is `try_later` by an SMSC that is asked less for a while.
Verdict: TypeAlias = Literal["refused", "try_later", "throttled"]

#: ESME_ROK, and the two with which we answer what we can't keep now, or can't read.
OK: Final = 0x00
TRY_AGAIN: Final = 0x64
NEVER_AGAIN: Final = 0x65
INVALID_LENGTH: Final = 0x02
INVALID_COMMAND: Final = 0x03
WRONG_BIND_STATE: Final = 0x04


@dataclass(frozen=True, slots=True)
class _Meaning:
    name: str
    words: str
    verdict: Verdict = "try_later"
    #: For refusals: who refused.
    status: Literal["failed_perm", "rejected_by_provider", "rejected_by_recipient"] | None = None
    #: For the status map.
    reason: str | None = None


_STATUSES: Final[Mapping[int, _Meaning]] = {
    0x01: _Meaning("ESME_RINVMSGLEN", "the message is too long", "refused", "rejected_by_provider", "content_refused"),
    0x02: _Meaning("ESME_RINVCMDLEN", "the command's length is wrong"),
    0x03: _Meaning("ESME_RINVCMDID", "the SMSC does not know the command"),
    0x04: _Meaning("ESME_RINVBNDSTS", "the bind does not allow it"),
    0x05: _Meaning("ESME_RALYBND", "as many binds as the SMSC allows are open already"),
    0x06: _Meaning("ESME_RINVPRTFLG", "the priority is not one of the SMSC's"),
    0x07: _Meaning("ESME_RINVREGDLVFLG", "the SMSC does not give receipts in this way"),
    0x08: _Meaning("ESME_RSYSERR", "the SMSC has trouble of its own"),
    0x0A: _Meaning("ESME_RINVSRCADR", "the sender is not one that the SMSC takes", "refused", "rejected_by_provider", "sender_refused"),
    0x0B: _Meaning("ESME_RINVDSTADR", "the destination address is not valid", "refused", "failed_perm", "invalid_address"),
    0x0D: _Meaning("ESME_RBINDFAIL", "the SMSC does not let us in"),
    0x0E: _Meaning("ESME_RINVPASWD", "the SMSC does not accept the password"),
    0x0F: _Meaning("ESME_RINVSYSID", "the SMSC does not know the system_id"),
    0x14: _Meaning("ESME_RMSGQFUL", "the SMSC's queue is full", "throttled"),
    0x15: _Meaning("ESME_RINVSERTYP", "the service_type is not one of the SMSC's"),
    0x43: _Meaning("ESME_RINVESMCLASS", "the SMSC does not take this esm_class"),
    0x45: _Meaning("ESME_RSUBMITFAIL", "the SMSC could not take it"),
    0x48: _Meaning("ESME_RINVSRCTON", "the sender's type of number is not taken", "refused", "rejected_by_provider", "sender_refused"),
    0x49: _Meaning("ESME_RINVSRCNPI", "the sender's numbering plan is not taken", "refused", "rejected_by_provider", "sender_refused"),
    0x50: _Meaning("ESME_RINVDSTTON", "the destination's type of number is not taken"),
    0x51: _Meaning("ESME_RINVDSTNPI", "the destination's numbering plan is not taken"),
    0x53: _Meaning("ESME_RINVSYSTYP", "the system_type is not one of the SMSC's"),
    0x58: _Meaning("ESME_RTHROTTLED", "more messages than the SMSC allows", "throttled"),
    0x61: _Meaning("ESME_RINVSCHED", "the time of delivery is not taken"),
    0x62: _Meaning("ESME_RINVEXPIRY", "the validity is not taken"),
    0x64: _Meaning("ESME_RX_T_APPN", "not now"),
    0x65: _Meaning("ESME_RX_P_APPN", "not this message, now or later", "refused", "failed_perm", "content_refused"),
    0x66: _Meaning("ESME_RX_R_APPN", "the message is rejected", "refused", "rejected_by_provider", "content_refused"),
    0xC0: _Meaning("ESME_RINVOPTPARSTREAM", "the SMSC does not take our optional parameters"),
    0xC1: _Meaning("ESME_ROPTPARNOTALLWD", "the SMSC does not allow an optional parameter"),
    0xC2: _Meaning("ESME_RINVPARLEN", "an optional parameter's length is wrong"),
    0xC3: _Meaning("ESME_RMISSINGOPTPARAM", "the SMSC misses an optional parameter"),
    0xC4: _Meaning("ESME_RINVOPTPARAMVAL", "an optional parameter's value is not taken"),
    0xFE: _Meaning("ESME_RDELIVERYFAILURE", "it could not be delivered", "refused", "failed_perm", "undeliverable"),
    0xFF: _Meaning("ESME_RUNKNOWNERR", "an error that the SMSC does not name"),
    0x100: _Meaning("ESME_RSERTYPUNAUTH", "the account may not use this service_type"),
    0x101: _Meaning("ESME_RPROHIBITED", "the account may not do this"),
    0x102: _Meaning("ESME_RSERTYPUNAVAIL", "the service_type is not available"),
    0x103: _Meaning("ESME_RSERTYPDENIED", "the service_type is denied"),
    0x104: _Meaning("ESME_RINVDCS", "the SMSC does not take this encoding", "refused", "rejected_by_provider", "content_refused"),
}  # fmt: skip
#: Our name and password, and nothing else.
CREDENTIALS: Final = frozenset({0x0D, 0x0E, 0x0F})

#: What receipts say, beside what the codes above mean.
SEEDS: Final = tuple(
    StatusSeed(code=meaning.name, canonical=meaning.status, reason=meaning.reason)
    for meaning in _STATUSES.values()
    if meaning.status is not None and meaning.reason is not None
)


def name_of(status: int) -> str:
    """`ESME_RINVDSTADR`; a vendor's own as `0x00000401`."""
    meaning = _STATUSES.get(status)
    return meaning.name if meaning is not None else f"0x{status:08X}"


def words_of(status: int) -> str:
    """A sentence about it."""
    meaning = _STATUSES.get(status)
    return meaning.words if meaning is not None else "the SMSC answered with a status of its own"


def verdict_of(status: int, own: Mapping[str, Verdict]) -> Verdict:
    """What it means, by an account's own table and by this one; an unknown status is worth another try."""
    if (found := own.get(name_of(status)) or own.get(f"0x{status:08X}")) is not None:
        return found
    meaning = _STATUSES.get(status)
    return meaning.verdict if meaning is not None else "try_later"


def outcome_of(status: int, verdict: Verdict) -> Outcome:
    """What becomes of the message."""
    meaning = _STATUSES.get(status)
    if verdict != "refused":
        # By its number where only this account takes it so: the status map reads the name as the no that it usually is.
        known = meaning is None or meaning.verdict != "refused"
        return TryLater(reason=words_of(status), code=name_of(status) if known else f"0x{status:08X}")
    return Refused(
        reason=words_of(status),
        code=name_of(status),
        status=meaning.status if meaning is not None else "rejected_by_provider",
    )
