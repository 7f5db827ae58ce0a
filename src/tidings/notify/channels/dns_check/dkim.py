"""DKIM: the key that a domain's mail is signed with (RFC 6376, RFC 8301, RFC 8463)."""

import base64
import binascii

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key

from tidings.kernel.dns import Resolver
from tidings.notify.channels.dns_check.model import DnsFinding, DnsLookup, tags

#: Bits of an RSA key: receivers refuse shorter ones, and advise against those shorter than the second.
_LEAST_BITS = 1024
_GOOD_BITS = 2048


async def check_dkim(resolver: Resolver, domain: str, selector: str | None) -> DnsFinding:
    """What receivers find when they check a signature."""
    if selector is None:
        return DnsLookup("dkim", f"_domainkey.{domain}", []).warn(
            "The channel names no DKIM selector, so nobody knows where its key should be.",
            "Set sender.dkim_selector to the selector that your mail is signed with; your mail provider names it.",
        )
    name = f"{selector}._domainkey.{domain}"
    records = [text for text in await resolver.texts(name) if "p" in tags(text)]
    lookup = DnsLookup("dkim", name, records)
    if not records:
        return lookup.fail(
            "There is no DKIM key: signatures can't be checked, and receivers distrust the mail.",
            f"Publish the key that your provider gives you at {name}, as TXT or as the CNAME that it names.",
        )
    if len(records) > 1:
        return lookup.fail(
            "There are several keys at one selector; receivers may take any of them, or none.",
            "Leave one there, and give other keys selectors of their own.",
        )
    return _judge(lookup)


def _judge(lookup: DnsLookup) -> DnsFinding:
    found = tags(lookup.records[0])
    if found.get("v", "DKIM1") != "DKIM1":
        return lookup.fail("The record's version is not DKIM1.", "Write v=DKIM1.")
    key = "".join(found["p"].split())
    if not key:
        return lookup.fail(
            "The key is revoked: p= is empty.", "Sign with another selector, or publish a new key here."
        )
    kind = found.get("k", "rsa").lower()
    try:
        bits = _bits(kind, base64.b64decode(key, validate=True))
    except (binascii.Error, ValueError, UnsupportedAlgorithm):
        return lookup.fail(
            "The key can't be read; it may have lost a part when it was pasted.",
            "Publish it again; over 255 characters it is written in several pieces in quotes.",
        )
    if kind == "rsa" and bits < _LEAST_BITS:
        return lookup.fail(
            f"The key has {bits} bits; receivers pass over signatures of fewer than {_LEAST_BITS}.",
            f"Make one of {_GOOD_BITS} bits, under a new selector.",
        )
    if "y" in found.get("t", "").lower().split(":"):
        return lookup.warn(
            "The record says that DKIM is only being tested (t=y), and receivers may pass over it.",
            "Remove t=y.",
        )
    if kind == "rsa" and bits < _GOOD_BITS:
        return lookup.warn(
            f"The key has {bits} bits, which is taken and is weak.",
            f"Make one of {_GOOD_BITS} bits at the next rotation.",
        )
    return lookup.good(f"The key is there: {kind}, {bits} bits.")


def _bits(kind: str, key: bytes) -> int:
    if kind == "ed25519":
        if len(key) != 32:
            raise ValueError("no Ed25519 key")
        return 256
    if kind != "rsa":
        raise ValueError("an unknown kind of key")
    read = load_der_public_key(key)
    if not isinstance(read, RSAPublicKey):
        raise ValueError("no RSA key")  # noqa: TRY004  # one kind of error for what can't be read
    return read.key_size
