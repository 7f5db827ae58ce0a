"""Asks the four questions about a sender's domain, at once."""

import asyncio
from collections.abc import Awaitable

from tidings.kernel.dns import DnsError, Resolver
from tidings.notify.channels.dns_check.dkim import check_dkim
from tidings.notify.channels.dns_check.dmarc import check_dmarc
from tidings.notify.channels.dns_check.model import CheckName, DnsFinding
from tidings.notify.channels.dns_check.mx import check_mx
from tidings.notify.channels.dns_check.spf import check_spf


async def check_domain(resolver: Resolver, domain: str, *, dkim_selector: str | None) -> list[DnsFinding]:
    """One finding each; a name server that is silent is told as such and keeps none of the others."""
    return list(
        await asyncio.gather(
            _known("spf", domain, check_spf(resolver, domain)),
            _known("dkim", domain, check_dkim(resolver, domain, dkim_selector)),
            _known("dmarc", domain, check_dmarc(resolver, domain)),
            _known("mx", domain, check_mx(resolver, domain)),
        )
    )


async def _known(check: CheckName, domain: str, asking: Awaitable[DnsFinding]) -> DnsFinding:
    try:
        return await asking
    except DnsError:
        return DnsFinding(
            check=check,
            status="unknown",
            name=domain,
            found=None,
            what="The name servers did not answer, so nothing is known.",
            how="Try again in a moment; if it stays so, look at the domain's name servers.",
        )
