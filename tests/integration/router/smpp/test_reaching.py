"""How an SMSC is reached: with TLS or without, only where we may, and what is asked of it for a check."""

from pathlib import Path

import pytest

from tests.support.certificates import make_certificate
from tests.support.played_smpp import HANG, Part, played_smpp
from tests.support.smpp import SMS, bound, smpp_settings
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater


async def test_over_tls(tmp_path: Path) -> None:
    """With a certificate that we trust; to nobody else is a password shown."""
    certificate = make_certificate(tmp_path)
    async with played_smpp(tls=certificate.server_context()) as smsc:
        settings = smpp_settings(smsc.port, security="tls")
        async with bound({**settings, "ca_file": str(certificate.cert_file)}) as adapter:
            (trusted,) = await adapter.send([SMS])
        async with bound(settings) as adapter:
            (untrusted,) = await adapter.send([SMS])

    assert isinstance(trusted, Accepted)
    assert isinstance(untrusted, TryLater)
    assert untrusted.code == "tls"
    assert len(smsc.named("bind_transceiver")) == 1


async def test_only_where_we_may() -> None:
    """The guard is asked about the address itself, and nothing goes out where it says no."""
    asked: list[str] = []

    def guard(address: str) -> bool:
        asked.append(address)
        return False

    async with (
        played_smpp() as smsc,
        bound(smpp_settings(smsc.port, host="localhost"), guard=guard) as adapter,
    ):
        (outcome,) = await adapter.send([SMS])

    assert isinstance(outcome, TryLater)
    assert outcome.code == "address"
    assert set(asked) <= {"127.0.0.1", "::1"}
    assert smsc.connections == 0


@pytest.mark.parametrize(
    ("part", "kind", "code"),
    [
        (Part(body=b"\0"), Accepted, None),
        (Part(status=0x0E), Refused, "ESME_RINVPASWD"),
        (Part(status=0x0F), Refused, "ESME_RINVSYSID"),
        (Part(status=0x05), TryLater, "ESME_RALYBND"),
        (HANG, TryLater, "connection"),
    ],
)
async def test_a_check(part: Part, kind: type[Outcome], code: str | None) -> None:
    """It binds, unbinds, and sends nothing."""
    async with (
        played_smpp({"bind": part}) as smsc,
        bound(smpp_settings(smsc.port, connect_seconds=0.2)) as adapter,
    ):
        checked = await adapter.check()

    assert (type(checked), getattr(checked, "code", None)) == (kind, code)
    assert {one.name for one in smsc.heard} <= {"bind_transceiver", "unbind"}


async def test_a_check_of_one_that_is_bound_needs_no_second_bind() -> None:
    """SMSCs count binds."""
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port)) as adapter:
        await adapter.send([SMS])
        checked = await adapter.check()

    assert checked == Accepted()
    assert [one.name for one in smsc.heard][:3] == ["bind_transceiver", "submit_sm", "enquire_link"]
