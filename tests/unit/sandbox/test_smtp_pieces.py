"""Mail arrives in pieces of any size: what is kept does not depend on where the network cut it."""

import asyncio

import pytest

from tests.support.clock import ManualClock
from tidings.sandbox.faults import Faults
from tidings.sandbox.smtp_server import SmtpSandbox, _Session
from tidings.sandbox.store import Store

_ENVELOPE = b"MAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nDATA\r\n"
_MAILS = (
    b"Subject: plain\r\n\r\nhello\r\n",
    b"Subject: dots\r\n\r\n.\x2e one dot\r\n...two dots\r\nend\r\n",
    b"",
    b"..begins with a dot\r\n",
)
_KEPT = [
    b"Subject: plain\r\n\r\nhello\r\n",
    b"Subject: dots\r\n\r\n. one dot\r\n..two dots\r\nend\r\n",
    b"",
    b".begins with a dot\r\n",
]


class _Wire(asyncio.Transport):
    """Where answers go."""

    def __init__(self) -> None:
        super().__init__()
        self.said = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.said += bytes(data)

    def is_closing(self) -> bool:
        return False


def received(*pieces: bytes) -> tuple[list[bytes], bytes]:
    """What is kept of these pieces, and what was answered."""
    store, wire = Store(ManualClock(), run="t"), _Wire()

    async def talk() -> None:
        session = _Session(SmtpSandbox(store, Faults(ManualClock())))
        session.connection_made(wire)
        for piece in pieces:
            session.data_received(piece)

    asyncio.run(talk())
    return [message.raw for message in store.find()], wire.said


def conversation() -> bytes:
    """All of it, pipelined as nobody should and everybody does."""
    return b"EHLO x\r\n" + b"".join(_ENVELOPE + mail + b".\r\n" for mail in _MAILS) + b"NOOP\r\n"


def test_cut_at_every_place() -> None:
    """Two pieces, wherever the cut is."""
    whole = conversation()
    kept, said = received(whole)

    assert kept == _KEPT
    for cut in range(1, len(whole)):
        assert received(whole[:cut], whole[cut:]) == (kept, said), cut


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_many_small_pieces(size: int) -> None:
    """Byte by byte, too."""
    whole = conversation()

    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]

    assert received(*pieces) == received(whole)


def test_a_message_that_comes_in_one_piece() -> None:
    """The quick way gives the same as the slow one, with and without dots."""
    pieces = [b"EHLO x\r\n"]
    for mail in _MAILS:
        pieces += [_ENVELOPE, mail + b".\r\n"]

    assert received(*pieces) == received(b"".join(pieces))
