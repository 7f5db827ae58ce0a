"""The steps of a look at an account, in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Literal, TypeAlias

import msgspec

from tidings.kernel.refusals import FieldError
from tidings.router.accounts.account_faults import is_of_reference
from tidings.router.adapters.registry import ReadAccount
from tidings.router.channel_configs.hook import HookAddress
from tidings.router.channel_configs.reachability import HostPort, ReachabilityResult

#: With which adapters say that a connection is not safe enough to say anything over it.
TLS: Final = "tls"

StepName: TypeAlias = Literal[
    "secret", "settings", "name", "address", "connection", "tls", "credentials", "callbacks", "dry_call"
]
StepResult: TypeAlias = Literal["ok", "failed", "skipped"]

ORDER: Final[tuple[StepName, ...]] = (
    "secret", "settings", "name", "address", "connection", "tls", "credentials", "callbacks", "dry_call",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCheckStep:
    """One thing that was looked at."""

    name: StepName
    result: StepResult
    #: What was found.
    words: str
    #: What can be done about it.
    next: str | None = None
    #: The vendor's.
    code: str | None = None


def ok(name: StepName, words: str) -> AccountCheckStep:
    """Nothing is wrong with it."""
    return AccountCheckStep(name=name, result="ok", words=words)


def failed(name: StepName, words: str, *, next: str, code: str | None = None) -> AccountCheckStep:  # noqa: A002
    """Something is."""
    return AccountCheckStep(name=name, result="failed", words=words, next=next, code=code)


def skipped(name: StepName, words: str, *, next: str | None = None) -> AccountCheckStep:  # noqa: A002
    """It was not looked at."""
    return AccountCheckStep(name=name, result="skipped", words=words, next=next)


def wrong_steps(wrong: Sequence[FieldError]) -> Sequence[AccountCheckStep]:
    """What the adapter can't read of the account, in the words with which such an account is refused when it is set up."""
    words = "; ".join(f"{one.field or 'what it leads to'} {one.remedy}" for one in wrong)
    if any(map(is_of_reference, wrong)):
        return [
            failed(
                "secret",
                words,
                next="put it where the reference leads to, or set the channel up with another reference",
            )
        ]
    return [ok("secret", "found"), failed("settings", words, next="correct what the secret holds")]


def not_trusted(words: str, *, settings: msgspec.Struct) -> AccountCheckStep:
    """The connection is not one that anything is said over; `words` are the adapter's."""
    if "certificate" not in words:
        advice = "set `security` to what the server offers"
    elif "ca_pem" in settings.__struct_fields__:
        advice = (
            "compare the server's name with its certificate's; where that is signed by an authority of your own, name "
            "the authority's certificate: `ca_pem_ref` leads to it among the secrets, `ca_file` to a file on the disk "
            "of every process that sends"
        )
    else:
        advice = "look at who answers under this name: a proxy on the way, or a wrong address in the settings"
    return failed("tls", words, next=advice, code=TLS)


def tls(*, encrypted: bool | None, asked: bool) -> AccountCheckStep:
    """Nothing is known to be wrong with the connection's certificate."""
    if encrypted is False:
        return skipped("tls", "the settings ask for a connection that is not encrypted")
    if encrypted is None or not asked:
        return skipped("tls", "seen with the first message: the vendor was not asked anything")
    return ok("tls", "the server's certificate is trusted")


def callbacks(hook: HookAddress, read: ReadAccount) -> AccountCheckStep:
    """Whether the vendor could tell us later what became of messages."""
    kind = read.kind
    if kind.callbacks is None and (bounces := _by_mail(read)) is not None:
        return bounces
    if kind.callbacks is None:
        words = (
            "the vendor speaks over the adapter's own connection" if kind.listens else "this adapter has none"
        )
        return skipped("callbacks", words)
    if kind.callbacks.keys(read.settings) is None:
        there = hook.advice if hook.url is None else f"give the vendor the address {hook.url}"
        return skipped(
            "callbacks",
            "the settings name nothing that callbacks could be checked with: none are taken",
            next=f"name it, then {there}",
        )
    proof = f", proven by {kind.proof}" if kind.proof else ""
    if hook.url is None:
        words = f"would be taken{proof}; where vendors reach us is not known"
        return skipped("callbacks", words, next=hook.advice)
    return AccountCheckStep(
        name="callbacks", result="ok", words=f"taken at {hook.url}{proof}", next=hook.advice
    )


def _by_mail(read: ReadAccount) -> AccountCheckStep | None:
    """Where a mail server's own word comes to; None where that is no part of the settings."""
    named = [
        value
        for name in ("bounce_address", "return_path_domain")
        if isinstance(value := getattr(read.settings, name, None), str)
    ]
    if not named:
        return None
    if getattr(read.settings, "bounce_imap_url", None) is not None:
        return ok("callbacks", f"bounces come by mail to {named[0]}, and are read from the mailbox over IMAP")
    return AccountCheckStep(
        name="callbacks",
        result="ok",
        words=f"bounces come by mail to {named[0]}",
        next="let mail to it reach TIDINGS_BOUNCES_SMTP or TIDINGS_BOUNCES_LMTP, or name a mailbox (bounce_imap_url)",
    )


def _is_number(host: str) -> bool:
    """An address itself: its author learns nothing from hearing that it is not allowed."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def reached_steps(
    place: HostPort, reached: ReachabilityResult, *, guarded: bool = False
) -> Sequence[AccountCheckStep]:
    """How far one came on the way to the vendor.

    `guarded`: for an account that may not lead everywhere. A name of our network and one that does not exist are told alike, or
    a caller that sets an account up could ask which names there are.
    """
    if guarded and not (reached.found and reached.allowed) and not _is_number(place.host):
        return [
            failed(
                "name",
                f"{place.host} leads to no address that accounts may connect to",
                next="correct the name, use one with a public address, or have the operators open the network "
                "(TIDINGS_TENANT_NETWORKS)",
            )
        ]
    if not reached.found:
        return [
            failed(
                "name",
                f"nobody knows the name {place.host}",
                next="correct it in the settings, or look at the name servers",
            )
        ]
    steps = [ok("name", f"{place.host} is known")]
    if not reached.allowed:
        steps.append(
            failed(
                "address",
                "it leads to an address that accounts may not connect to",
                next="use a public address, or have the operators open the network (TIDINGS_TENANT_NETWORKS)",
            )
        )
        return steps
    steps.append(ok("address", "it may be connected to"))
    if reached.connected:
        steps.append(ok("connection", f"port {place.port} takes connections"))
    else:
        steps.append(
            failed(
                "connection",
                f"port {place.port} takes no connection",
                next="look at the vendor's status page, the port and the firewall on the way",
            )
        )
    return steps
