"""MX: whether a mail server takes the answers and bounces that come back to a sender's domain (RFC 5321, RFC 7505)."""

from tidings.kernel.dns import Resolver
from tidings.notify.channels.dns_check.model import DnsFinding, DnsLookup


async def check_mx(resolver: Resolver, domain: str) -> DnsFinding:
    """Where mail to the sender goes."""
    servers = await resolver.mail_servers(domain)
    lookup = DnsLookup("mx", domain, [f"{preference} {host}" for preference, host in servers])
    if any(host == "." for _, host in servers):
        return lookup.fail(
            "The domain says that it takes no mail, and receivers refuse senders that can't be answered.",
            "Name a mail server, or send from a domain that has one.",
        )
    if servers:
        return lookup.good("Answers and bounces have somewhere to go.")
    if await resolver.has_address(domain):
        return lookup.warn(
            "There is no MX record; mail to the sender is tried at the domain's own address, where it may be lost.",
            "Publish an MX record that names your mail server.",
        )
    return lookup.fail(
        "The domain takes no mail and has no address: receivers refuse senders that can't exist.",
        "Publish an MX record, or correct sender.from_address.",
    )
