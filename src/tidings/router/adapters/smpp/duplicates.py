"""Names what people write: SMPP gives their messages no id, so that one that is told again has to be recognised.

An SMSC tells something again where it got no answer, or a bad one, or may not have got the good one because the connection
ended right behind it. Whatever else looks the same was written twice.
"""

import asyncio
import hashlib
import os
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from tidings.kernel.clock import Clock
from tidings.router.adapters.smpp.pdu import TLV_RECEIPTED_MESSAGE_ID, TLV_USER_MESSAGE_REFERENCE, DeliverSm
from tidings.router.adapters.smpp.session import SmppSession

_MOST_KNOWN: Final = 10_000
#: Seconds after a good answer in which the end of the connection may have swallowed it.
_DOUBTFUL: Final = 10.0
#: Seconds for which an SMSC may go on telling it.
_LONGEST: Final = 86_400.0
#: Of this process alone: a digest of what a person wrote does not tell who wrote what.
_MARKING: Final = os.urandom(32)


@dataclass(slots=True)
class _Told:
    message_id: str
    since: float
    #: The session that got a good answer, and when; None as long as none did.
    session: SmppSession | None = None
    answered_at: float = 0.0

    def may_come_again(self, now: float) -> bool:
        if now - self.since > _LONGEST:
            return False
        if self.session is None:
            return True
        return self.session.gone is not None and self.session.gone_at - self.answered_at < _DOUBTFUL


class DuplicateFilter:
    """What was told lately."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: OrderedDict[bytes, _Told] = OrderedDict()

    def name(self, digest: bytes) -> str:
        """The id of a message: the one from before where it is told again."""
        now = asyncio.get_running_loop().time()
        known = self._told.get(digest)
        if known is None or not known.may_come_again(now):
            moment = int(self._clock.now().timestamp() * 1000)
            known = _Told(f"{digest.hex()}-{moment:x}", now)
            self._told[digest] = known
            if len(self._told) > _MOST_KNOWN:
                self._told.popitem(last=False)
        self._told.move_to_end(digest)
        return known.message_id

    def answered(self, digest: bytes, session: SmppSession) -> None:
        """The SMSC was told over this session that we have it."""
        known = self._told.get(digest)
        if known is not None:
            known.session, known.answered_at = session, asyncio.get_running_loop().time()


def digest_of(delivery: DeliverSm, content: bytes) -> bytes:
    """What is the same when it is told again."""
    hashed = hashlib.blake2b(digest_size=12, key=_MARKING)
    for part in (
        delivery.source.digits.encode(),
        delivery.destination.digits.encode(),
        bytes((delivery.data_coding,)),
        delivery.tlvs.get(TLV_USER_MESSAGE_REFERENCE, b""),
        delivery.tlvs.get(TLV_RECEIPTED_MESSAGE_ID, b""),
        content,
    ):
        hashed.update(len(part).to_bytes(4, "big") + part)
    return hashed.digest()
