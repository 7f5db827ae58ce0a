"""A new column with a personal name is sealed or hashed, or its comment says why it is not personal."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tidings.operations.migrations.statements import SqlStatement

#: The rule holds from this number on.
FIRST_WITH_ANSWER: Final = 54
#: What a comment begins with that answers for such a name.
ANSWER: Final = "Not personal:"
#: Words in a column's name that speak of a person; each as a whole word between underscores.
_WORDS: Final = frozenset(
    [
        "email",
        "mail",
        "phone",
        "telephone",
        "msisdn",
        "mobile",
        "fax",
        "address",
        "addresses",
        "name",
        "names",
        "surname",
        "firstname",
        "lastname",
        "nickname",
        "birthday",
        "birthdate",
        "birth",
        "gender",
        "street",
        "city",
        "postcode",
        "zip",
        "ip",
        "agent",
        "passport",
        "iban",
        "chat",
        "handle",
        "latitude",
        "longitude",
    ]
)
#: How a name ends that holds no more than a hash, a sealed value, a reference or a moment.
_HARMLESS: Final = ("_hash", "_hashes", "_ciphertext", "_id", "_ids", "_ref", "_at", "_count", "_digest")
_SEALED: Final = frozenset({"bytea", "boolean", "bool"})

_CREATE: Final = re.compile(
    r"CREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<table>[\w.\"]+)\s*\(", re.IGNORECASE
)
_ALTER: Final = re.compile(
    r"ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?(?P<table>[\w.\"]+)", re.IGNORECASE
)
_ADDED: Final = re.compile(
    r"\bADD\s+COLUMN\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>[a-z_][\w]*)\s+(?P<type>[a-z]+)", re.IGNORECASE
)
_DEFINED: Final = re.compile(r"\s*(?P<name>[a-z_][\w]*)\s+(?P<type>[a-z]+)", re.IGNORECASE)
_NO_COLUMN: Final = frozenset({"constraint", "primary", "unique", "foreign", "check", "exclude", "like"})
_COMMENT: Final = re.compile(
    r"COMMENT\s+ON\s+COLUMN\s+(?P<column>[\w.\"]+)\s+IS\s+'(?P<text>(?:[^']|'')*)", re.IGNORECASE
)
_LINE_COMMENT: Final = re.compile(r"--[^\n]*")


def unanswered(statements: Sequence[SqlStatement]) -> list[str]:
    """Columns (`schema.table.column`) that look personal, lie open, and have no comment that says why they may."""
    answered = {
        found["column"].replace('"', "")
        for statement in statements
        if (found := _COMMENT.match(statement.sql)) and found["text"].startswith(ANSWER)
    }
    return [
        column
        for statement in statements
        for column, kind in _columns(_LINE_COMMENT.sub("", statement.sql))
        if _looks_personal(column.rpartition(".")[2], kind) and column not in answered
    ]


def _looks_personal(name: str, kind: str) -> bool:
    if kind.lower() in _SEALED or name.endswith(_HARMLESS):
        return False
    return not _WORDS.isdisjoint(name.lower().split("_"))


def _columns(sql: str) -> Iterator[tuple[str, str]]:
    created = _CREATE.match(sql)
    if created is not None:
        for part in _parts(sql[created.end() :]):
            defined = _DEFINED.match(part)
            if defined and defined["name"].lower() not in _NO_COLUMN:
                yield f"{created['table'].replace(chr(34), '')}.{defined['name']}", defined["type"]
        return
    altered = _ALTER.match(sql)
    if altered is not None:
        for added in _ADDED.finditer(sql):
            yield f"{altered['table'].replace(chr(34), '')}.{added['name']}", added["type"]


def _parts(body: str) -> Iterator[str]:
    """The definitions of a table, up to the parenthesis that closes them."""
    depth, start = 0, 0
    for place, letter in enumerate(body):
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
            if depth < 0:
                yield body[start:place]
                return
        elif letter == "," and depth == 0:
            yield body[start:place]
            start = place + 1
