"""What is said about a sender's domain, asked of a real name server on loopback."""

import base64
import re
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.support.channel_world import ChannelWorld, put_channel
from tests.support.name_server import NameServer, Zone, name_server
from tidings.kernel.db import Database
from tidings.kernel.dns import DnsError, DnsResolver
from tidings.notify.channels.channel_test import DNS_LIMIT
from tidings.notify.channels.dns_check.check import check_domain
from tidings.notify.channels.dns_check.dmarc import check_dmarc
from tidings.notify.channels.dns_check.model import DnsFinding, worst

DOMAIN = "mail.acme.test"
SELECTOR = f"s1._domainkey.{DOMAIN}"


@cache
def public_key(bits: int) -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=bits).public_key()
    return base64.b64encode(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()


def quoted(text: str) -> str:
    """As a zone file has it: pieces of 255 characters."""
    return " ".join(f'"{text[i : i + 255]}"' for i in range(0, len(text), 255))


def zone(**changed: list[str]) -> Zone:
    """A domain in good order, but for what was changed."""
    records = {
        "spf": ["v=spf1 include:spf.vendor.test ip4:192.0.2.0/24 -all"],
        "dkim": [f"v=DKIM1; k=rsa; p={public_key(2048)}"],
        "dmarc": ["v=DMARC1; p=reject; rua=mailto:dmarc@acme.test"],
        "mx": ["10 mx.acme.test."],
        "vendor": ["v=spf1 a mx:mx.vendor.test ~all"],
        **changed,
    }
    site = {"TXT": [quoted(t) for t in ["google-site-verification=x", *records["spf"]]], "MX": records["mx"]}
    return {
        DOMAIN: {kind: lines for kind, lines in site.items() if lines},
        SELECTOR: {"TXT": [quoted(t) for t in records["dkim"]]} if records["dkim"] else {},
        f"_dmarc.{DOMAIN}": {"TXT": [quoted(t) for t in records["dmarc"]]} if records["dmarc"] else {},
        "spf.vendor.test": {"TXT": [quoted(t) for t in records["vendor"]]} if records["vendor"] else {},
    }


@pytest.fixture
async def good() -> AsyncIterator[NameServer]:
    async with name_server(zone()) as server:
        yield server


async def ask(server: NameServer, selector: str | None = "s1") -> dict[str, DnsFinding]:
    found = await check_domain(DnsResolver([("127.0.0.1", server.port)]), DOMAIN, dkim_selector=selector)
    return {finding.check: finding for finding in found}


async def test_a_domain_in_good_order(good: NameServer) -> None:
    found = await ask(good)

    assert {name: finding.status for name, finding in found.items()} == dict.fromkeys(found, "pass")
    assert found["spf"].what == "The record is sound and takes 3 look-ups."
    assert found["dkim"].what == "The key is there: rsa, 2048 bits."
    assert all(finding.how is None and finding.found for finding in found.values())


@pytest.mark.parametrize(
    ("check", "records", "status", "says"),
    [
        ("spf", [], "fail", "no SPF record"),
        ("spf", ["v=spf1 -all", "v=spf1 ~all"], "fail", "2 SPF records"),
        ("spf", ["v=spf1 mx +all"], "fail", "lets everybody send"),
        ("spf", ["v=spf1 mx all"], "fail", "lets everybody send"),
        ("spf", ["v=spf1 mx"], "warn", "does not say what others are"),
        ("spf", ["v=spf1 mx ?all"], "warn", r"\?all"),
        ("spf", ["v=spf1 ptr -all"], "warn", "ptr"),
        ("spf", ["v=spf1 ip4:192.0.2.1 include: -all"], "fail", "no term of SPF"),
        ("spf", ["v=spf1 include:nowhere.test -all"], "fail", "has no SPF record"),
        ("spf", [f"v=spf1 include:{DOMAIN} -all"], "fail", "includes itself"),
        ("spf", ["v=spf1 " + "include:spf.vendor.test " * 4 + "-all"], "fail", "more than 10 look-ups"),
        ("spf", ["v=spf1 redirect=spf.vendor.test"], "pass", "3 look-ups"),
        ("spf", ["V=SPF1 exists:%{i}.acme.test -all"], "pass", "1 look-ups"),
        ("dkim", [], "fail", "no DKIM key"),
        ("dkim", ["v=DKIM1; p="], "fail", "revoked"),
        ("dkim", ["v=DKIM1; p=AAAA"], "fail", "can't be read"),
        ("dkim", ["v=DKIM1; k=ed25519; p=" + base64.b64encode(bytes(32)).decode()], "pass", "ed25519"),
        ("dkim", ["v=DKIM1; k=ed25519; p=AAAA"], "fail", "can't be read"),
        ("dkim", [f"p={public_key(1024)}"], "warn", "1024 bits"),
        ("dkim", [f"v=DKIM1; t=y; p={public_key(2048)}"], "warn", "tested"),
        ("dkim", [f"p={public_key(2048)}", f"p={public_key(1024)}"], "fail", "several keys"),
        ("dmarc", [], "fail", "no DMARC record"),
        ("dmarc", ["v=DMARC1; p=none; rua=mailto:x@acme.test"], "warn", "policy is none"),
        ("dmarc", ["v=DMARC1; p=maybe"], "warn", "no policy"),
        ("dmarc", ["v=DMARC1; rua=mailto:x@acme.test"], "warn", "counts as none"),
        ("dmarc", ["v=DMARC1; p=reject; t=y; rua=mailto:x@acme.test"], "warn", "as if it were quarantine"),
        ("dmarc", ["v=DMARC1; p=reject; pct=5"], "warn", "pct=5 is no longer part of DMARC"),
        ("dmarc", ["v=DMARC1;p=quarantine"], "warn", "nobody gets a report"),
        ("dmarc", ["v=DMARC1; p=none", "v=DMARC1; p=reject"], "fail", "several"),
        ("mx", ["0 ."], "fail", "takes no mail"),
        ("mx", [], "fail", "takes no mail and has no address"),
    ],
)
async def test_what_is_wrong_is_said_with_a_remedy(
    check: str, records: list[str], status: str, says: str
) -> None:
    async with name_server(zone(**{check: records})) as server:
        found = await ask(server)

    assert found[check].status == status
    assert re.search(says, found[check].what)
    assert (found[check].how is None) == (status == "pass")
    assert {f.status for name, f in found.items() if name != check} == {"pass"}


async def test_a_domain_without_mail_servers_that_has_an_address() -> None:
    made = dict(zone(mx=[]))
    made[DOMAIN] = {**made[DOMAIN], "A": ["192.0.2.7"]}
    async with name_server(made) as server:
        found = await ask(server)

    assert found["mx"].status == "warn"


async def test_the_policy_of_the_domain_above_and_a_key_elsewhere() -> None:
    made = dict(zone(dmarc=[]))
    made["_dmarc.acme.test"] = {"TXT": ['"v=DMARC1; p=none; sp=reject; rua=mailto:x@acme.test"']}
    made["key.vendor.test"] = made[SELECTOR]
    made[SELECTOR] = {"CNAME": ["key.vendor.test."]}
    async with name_server(made) as server:
        found = await ask(server)

    assert (found["dmarc"].status, found["dmarc"].name) == ("pass", "_dmarc.acme.test")
    assert found["dkim"].status == "pass"


async def test_without_a_selector_nobody_knows_where_the_key_is(good: NameServer) -> None:
    found = await ask(good, None)

    assert found["dkim"].status == "warn"
    assert "sender.dkim_selector" in (found["dkim"].how or "")


async def test_a_tree_of_includes_without_end_ends_soon() -> None:
    """A hostile record makes us ask no more than a receiver would."""
    many = " ".join(f"include:n{{i}}-{n}.evil.test" for n in range(10))
    made = dict(zone(spf=[f"v=spf1 {many.replace('{i}', '0')} -all"]))
    for depth in range(12):
        for n in range(10):
            made[f"n{depth}-{n}.evil.test"] = {
                "TXT": [quoted(f"v=spf1 {many.replace('{i}', str(depth + 1))} -all")]
            }
    async with name_server(made) as server:
        found = await ask(server)
        asked = [line for line in server.asked if "evil" in line]

    assert "more than 10" in found["spf"].what
    assert len(asked) <= 11


async def test_a_broken_name_server_is_unknown_and_not_wrong(good: NameServer) -> None:
    good.broken = {DOMAIN, "spf.vendor.test"}
    found = await ask(good)

    assert {name: f.status for name, f in found.items()} == {
        "spf": "unknown", "dkim": "pass", "dmarc": "pass", "mx": "unknown",
    }  # fmt: skip
    assert worst(list(found.values())) == "unknown"
    with pytest.raises(DnsError):
        await DnsResolver([("127.0.0.1", good.port)]).texts(DOMAIN)


@pytest.mark.parametrize("name", ["a" * 64 + ".test", "a." * 200, "a..b", ""])
async def test_names_that_can_not_exist_have_no_records(good: NameServer, name: str) -> None:
    assert await DnsResolver([("127.0.0.1", good.port)]).texts(name) == []


async def test_over_http(good: NameServer, db: Database, tmp_path: Path) -> None:
    world = ChannelWorld(db, tmp_path, TIDINGS_DNS_SERVERS=f"127.0.0.1:{good.port}")
    tenant_id = await world.tenant()
    path = "/api/v1/channels/email/dns"
    async with world.http.as_tenant(tenant_id, scopes=["channels:read", "channels:write"]) as client:
        missing = await client.get(path)
        sender = {"from_address": f"Hello@{DOMAIN}", "dkim_selector": "s1"}
        await put_channel(client, world.secret(tenant_id, "one", '{"host": "mail.acme.test"}'), sender=sender)
        found = await client.get(path)
        other = await client.get("/api/v1/channels/sms/dns")
        codes = [(await client.get(path)).status_code for _ in range(DNS_LIMIT.limit)]

    assert (missing.status_code, missing.json()["code"]) == (404, "channel_not_found")
    assert found.status_code == 200, found.text
    told = found.json()
    assert (told["domain"], told["dkim_selector"], told["status"]) == (DOMAIN, "s1", "pass")
    assert [check["check"] for check in told["checks"]] == ["spf", "dkim", "dmarc", "mx"]
    assert other.status_code == 400
    assert codes == [200] * (DNS_LIMIT.limit - 1) + [429]


@pytest.mark.parametrize(
    ("domain", "asked"),
    [
        ("acme.test", ["acme.test", "test"]),
        ("mail.acme.test", ["mail.acme.test", "acme.test", "test"]),
        (
            "a.b.c.d.e.f.g.h.i.acme.test",
            [
                "a.b.c.d.e.f.g.h.i.acme.test",
                "e.f.g.h.i.acme.test",
                "f.g.h.i.acme.test",
                "g.h.i.acme.test",
                "h.i.acme.test",
                "i.acme.test",
                "acme.test",
                "test",
            ],
        ),
        (
            "mail.ministry.gov.af",
            ["mail.ministry.gov.af", "ministry.gov.af", "gov.af", "af"],
        ),
        ("localhost", ["localhost"]),
    ],
)
async def test_a_policy_is_looked_for_at_eight_names_at_most(domain: str, asked: list[str]) -> None:
    async with name_server({}) as server:
        found = await check_dmarc(DnsResolver([("127.0.0.1", server.port)]), domain)
        names = [line.removesuffix(" TXT").removeprefix("_dmarc.") for line in server.asked]

    assert found.status == "fail"
    assert f"_dmarc.{domain}:" in (found.how or "")
    assert names == asked


_REJECT = "v=DMARC1; p=reject; rua=mailto:x@acme.test"


@pytest.mark.parametrize(
    ("records", "where", "status"),
    [
        # Without another word the highest record is the organisation's.
        ({"mail.acme.co.test": _REJECT, "acme.co.test": _REJECT}, "acme.co.test", "pass"),
        # An organisation says that it begins here: what is above belongs to somebody else.
        ({"mail.acme.co.test": f"{_REJECT}; psd=n", "co.test": _REJECT}, "mail.acme.co.test", "pass"),
        # Under a public suffix the name one label below it is the organisation.
        ({"acme.co.test": _REJECT, "co.test": f"{_REJECT}; psd=y"}, "acme.co.test", "pass"),
        ({"mail.acme.co.test": _REJECT, "co.test": f"{_REJECT}; psd=y"}, "co.test", "warn"),
        ({"co.test": f"{_REJECT}; psd=y"}, "co.test", "warn"),
        # The suffix's word ends the walk: what is above it is not asked.
        ({"co.test": f"{_REJECT}; psd=y", "test": _REJECT}, "co.test", "warn"),
    ],
)
async def test_which_record_above_holds(records: dict[str, str], where: str, status: str) -> None:
    there = {f"_dmarc.{name}": {"TXT": [quoted(record)]} for name, record in records.items()}
    async with name_server(there) as server:
        found = await check_dmarc(DnsResolver([("127.0.0.1", server.port)]), "eu.mail.acme.co.test")

    assert (found.name, found.status) == (f"_dmarc.{where}", status)


async def test_several_records_above_are_as_good_as_none() -> None:
    there = {"_dmarc.acme.test": {"TXT": [quoted(_REJECT), quoted("v=DMARC1; p=none")]}}
    async with name_server(there) as server:
        found = await check_dmarc(DnsResolver([("127.0.0.1", server.port)]), "mail.acme.test")

    assert (found.status, found.found) == ("fail", None)
