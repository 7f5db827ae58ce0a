"""MX: whether a mail server takes the answers and bounces that come back to a sender's domain (RFC 5321, RFC 7505)."""

from tidings.kernel.dns import Resolver
from tidings.notify.channels.dns_check.model import DnsFinding, Status, shown


async def check_mx(resolver: Resolver, domain: str) -> DnsFinding:
    """Where mail to the sender goes."""
    servers = await resolver.mail_servers(domain)
    records = [f"{preference} {host}" for preference, host in servers]
    if any(host == "." for _, host in servers):
        return _finding(
            "fail",
            domain,
            records,
            "The domain says that it takes no mail, and receivers refuse senders that can't be answered.",
            "Name a mail server, or send from a domain that has one.",
        )
    if servers:
        return _finding("pass", domain, records, "Answers and bounces have somewhere to go.", None)
    if await resolver.has_address(domain):
        return _finding(
            "warn",
            domain,
            records,
            "There is no MX record; mail to the sender is tried at the domain's own address, where it may be lost.",
            "Publish an MX record that names your mail server.",
        )
    return _finding(
        "fail",
        domain,
        records,
        "The domain takes no mail and has no address: receivers refuse senders that can't exist.",
        "Publish an MX record, or correct sender.from_address.",
    )


def _finding(status: Status, name: str, records: list[str], what: str, how: str | None) -> DnsFinding:
    return DnsFinding(check="mx", status=status, name=name, found=shown(records), what=what, how=how)
