"""The organisational domain of a name: the one that somebody registered (RFC 7489, 3.2).

Receivers find it by the Public Suffix List, which has ten thousand lines and changes every week. Here it is told from
the name alone: below a country's domain, words such as `co` and `gov` are registries' own. Where that is a mistake the
true one is the name above or below, and `places` has both.
"""

from typing import Final

#: What registries of countries call the domains that they sell names under.
_REGISTRIES: Final = frozenset(
    [
        "ac",
        "asn",
        "co",
        "com",
        "edu",
        "firm",
        "gen",
        "go",
        "gob",
        "gouv",
        "gov",
        "govt",
        "gub",
        "id",
        "idf",
        "ind",
        "info",
        "ltd",
        "me",
        "mil",
        "mod",
        "ne",
        "net",
        "nhs",
        "nic",
        "nom",
        "or",
        "org",
        "plc",
        "police",
        "pro",
        "res",
        "sch",
        "school",
        "web",
    ]
)
_COUNTRY: Final = 2


def organisation_of(domain: str) -> str:
    """`acme.co.uk` of `mail.eu.acme.co.uk`; the name itself where it is no longer than that."""
    labels = domain.split(".")
    registry = 2 if len(labels[-1]) == _COUNTRY and labels[-2:-1] and labels[-2] in _REGISTRIES else 1
    return ".".join(labels[-registry - 1 :])


def places(domain: str) -> list[str]:
    """Where a policy is looked for, three at most: the name, its organisation, and who registers those (RFC 9091)."""
    organisation = organisation_of(domain)
    _, _, registry = organisation.partition(".")
    return [name for name in dict.fromkeys((domain, organisation, registry)) if name]
