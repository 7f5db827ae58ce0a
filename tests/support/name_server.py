"""A name server on loopback, over UDP, with the records that a test gives it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset

#: By name, then by type: records as a zone file writes them.
Zone = Mapping[str, Mapping[str, list[str]]]


class NameServer(asyncio.DatagramProtocol):
    """Answers what it knows, says NXDOMAIN otherwise, and is silent or broken about some names."""

    def __init__(self, zone: Zone) -> None:
        self.zone = {dns.name.from_text(name): dict(kinds) for name, kinds in zone.items()}
        #: Answered with SERVFAIL.
        self.broken: set[str] = set()
        self.asked: list[str] = []
        self.port = 0
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        assert self._transport is not None
        try:
            query = dns.message.from_wire(data)
        except dns.exception.DNSException:
            return
        self._transport.sendto(self._answer(query).to_wire(max_size=65535), addr)

    def _answer(self, query: dns.message.Message) -> dns.message.Message:
        (question,) = query.question
        name, kind = question.name, dns.rdatatype.to_text(question.rdtype)
        self.asked.append(f"{name.to_text(omit_final_dot=True)} {kind}")
        answer = dns.message.make_response(query, recursion_available=True)
        if name.to_text(omit_final_dot=True) in self.broken:
            answer.set_rcode(dns.rcode.SERVFAIL)
            return answer
        while "CNAME" in (kinds := self.zone.get(name, {})):
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", "CNAME", *kinds["CNAME"]))
            name = dns.name.from_text(kinds["CNAME"][0])
        if name not in self.zone:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        elif kind in kinds:
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", kind, *kinds[kind]))
        return answer


@asynccontextmanager
async def name_server(zone: Zone) -> AsyncIterator[NameServer]:
    """Listening while the block runs."""
    transport, server = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: NameServer(zone), local_addr=("127.0.0.1", 0)
    )
    try:
        yield server
    finally:
        transport.close()
