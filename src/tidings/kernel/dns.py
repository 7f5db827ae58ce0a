"""The port to the domain name system, and the resolver behind it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tidings.kernel.errors import TidingsError

if TYPE_CHECKING:
    import dns.asyncresolver


class DnsError(TidingsError):
    """The name servers did not give an answer, so nothing is known."""

    code = "dns"


class Resolver(Protocol):
    """Looks names up. No such name, or no such record, is an empty answer; a `DnsError` means that no server could say."""

    async def texts(self, name: str) -> list[str]:
        """The TXT records, each with its pieces put together."""
        ...

    async def mail_servers(self, name: str) -> list[tuple[int, str]]:
        """The MX records: preference and host, `.` for none at all (RFC 7505)."""
        ...

    async def has_address(self, name: str) -> bool:
        """Whether the name leads to a machine."""
        ...


class DnsResolver:
    """Asks the system's name servers, or those that were named."""

    def __init__(self, servers: Sequence[tuple[str, int]] = (), *, lookup_timeout: float = 5.0) -> None:
        """`servers` by address and port; `lookup_timeout` in seconds for one look-up, whichever server is asked."""
        self._servers = tuple(servers)
        self._lookup_timeout = lookup_timeout
        self._resolver: dns.asyncresolver.Resolver | None = None

    async def texts(self, name: str) -> list[str]:
        """The TXT records, each with its pieces put together."""
        return [
            b"".join(record.strings).decode("utf-8", "replace") for record in await self._ask(name, "TXT")
        ]

    async def mail_servers(self, name: str) -> list[tuple[int, str]]:
        """The MX records, the preferred first."""
        found = await self._ask(name, "MX")
        return sorted((r.preference, r.exchange.to_text().rstrip(".") or ".") for r in found)

    async def has_address(self, name: str) -> bool:
        """Whether the name leads to a machine."""
        return bool(await self._ask(name, "A") or await self._ask(name, "AAAA"))

    async def _ask(self, name: str, kind: str) -> list[Any]:
        import dns.asyncresolver
        import dns.exception
        import dns.name
        import dns.resolver

        try:
            resolver = self._resolver or self._open()
            answer = await resolver.resolve(name, kind, search=False, raise_on_no_answer=False)
        except dns.resolver.NXDOMAIN:
            return []
        except (dns.name.LabelTooLong, dns.name.NameTooLong, dns.name.EmptyLabel, UnicodeError):
            return []
        except (dns.exception.DNSException, OSError):
            raise DnsError from None
        return list(answer.rrset) if answer.rrset is not None else []

    def _open(self) -> "dns.asyncresolver.Resolver":
        import dns.asyncresolver
        import dns.nameserver

        made = dns.asyncresolver.Resolver(configure=not self._servers)
        if self._servers:
            made.nameservers = [dns.nameserver.Do53Nameserver(host, port) for host, port in self._servers]
        made.lifetime = self._lookup_timeout
        self._resolver = made
        return made
