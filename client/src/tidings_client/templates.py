"""Calls about templates: files to and from the server, publishing, previews. Send them with `Tidings.call`."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from tidings_client.calls import Call
from tidings_client.errors import ProblemError
from tidings_client.results import Page

_HOME = "/api/v1/templates"


class Finding(Struct, frozen=True, kw_only=True):
    """Something to mend, or worth a look."""

    #: `error` or `warning`.
    severity: str
    file: str
    what: str
    how: str = ""
    locale: str | None = None
    field: str | None = None
    line: int | None = None
    column: int | None = None


def findings_of(problem: ProblemError) -> tuple[Finding, ...]:
    """What stands in the way of publishing or taking a zip, as the server's refusal tells it."""
    try:
        found = msgspec.convert(problem.problem.report, tuple[Finding, ...])
    except msgspec.ValidationError:
        found = ()
    # A server that tells no more than the wrong fields is understood as well.
    return found or tuple(Finding(severity="error", file=e.field, what=e.remedy) for e in problem.errors)


class ImportedTemplate(Struct, frozen=True, kw_only=True):
    """What became of one folder."""

    key: str
    channel: str
    semver: str
    #: `created`, `replaced` or `unchanged`.
    outcome: str


class ImportedFile(Struct, frozen=True, kw_only=True):
    """What became of one file."""

    file: str
    #: `taken`, `faulty`, `ignored` or `refused`.
    outcome: str


class ImportReport(Struct, frozen=True, kw_only=True):
    """What became of a zip."""

    dry_run: bool
    written: bool
    publishable: bool
    templates: tuple[ImportedTemplate, ...] = ()
    files: tuple[ImportedFile, ...] = ()
    findings: tuple[Finding, ...] = ()


class VersionLine(Struct, frozen=True, kw_only=True):
    """A version in a list."""

    semver: str
    #: `draft`, `active` or `archived`.
    status: str
    locales: tuple[str, ...] = ()


class TemplateLine(Struct, frozen=True, kw_only=True):
    """A template in a list."""

    key: str
    channel: str
    #: `tenant` or `platform`.
    owner: str
    category: str
    active_version: str | None = None
    latest_version: str | None = None
    #: Of the latest version: `draft`, `active` or `archived`.
    latest_status: str | None = None
    locales: tuple[str, ...] = ()
    archived: bool = False
    #: The platform's version that it was customised from, and the one in force where that is newer.
    customised_from: str | None = None
    platform_newer: str | None = None


def list_(
    *,
    key: str | None = None,
    channel: str | None = None,
    status: str | None = None,
    cursor: str | None = None,
) -> Call[Page[TemplateLine]]:
    """The templates that can be used, the newest first: the caller's own, and the platform's."""
    given = {"key": key, "channel": channel, "status": status, "cursor": cursor, "limit": "200"}
    query = {name: value for name, value in given.items() if value is not None}
    read = msgspec.json.Decoder(Page[TemplateLine]).decode
    return Call(method="GET", path=f"{_HOME}/", read=read, query=query)


def export(
    *,
    key: str | None = None,
    channel: str | None = None,
    version: str | None = None,
    owner: str | None = None,
) -> Call[bytes]:
    """A zip of the templates; `version="active"` for what is in force, `owner="platform"` for the platform's."""
    given = {"key": key, "channel": channel, "version": version, "owner": owner}
    query = {name: value for name, value in given.items() if value is not None}
    return Call(method="GET", path=f"{_HOME}/export", read=bytes, query=query)


def import_(packed: bytes, *, dry_run: bool = False) -> Call[ImportReport]:
    """Take a zip of templates as drafts; doing it again changes nothing, so it can be repeated."""
    return Call(
        method="POST",
        path=f"{_HOME}/import",
        read=msgspec.json.Decoder(ImportReport).decode,
        query={"dry_run": "true"} if dry_run else {},
        body=packed,
        media_type="application/zip",
    )


def versions(key: str, channel: str, *, owner: str | None = None) -> Call[Page[VersionLine]]:
    """The newest versions; `owner="platform"` for the platform's."""
    read = msgspec.json.Decoder(Page[VersionLine]).decode
    query = {} if owner is None else {"owner": owner}
    return Call(method="GET", path=f"{_one(key, channel)}/versions", read=read, query=query)


def show(key: str, channel: str, *, owner: str | None = None) -> Call[dict[str, Any]]:
    """The template that is used, or that of an owner."""
    query = {} if owner is None else {"owner": owner}
    read = msgspec.json.Decoder(dict[str, Any]).decode
    return Call(method="GET", path=_one(key, channel), read=read, query=query)


def diff(
    key: str,
    channel: str,
    *,
    from_: str,
    to: str,
    from_owner: str | None = None,
    to_owner: str | None = None,
) -> Call[dict[str, Any]]:
    """What is different between two versions; the owners say whose they are."""
    given = {"from": from_, "to": to, "from_owner": from_owner, "to_owner": to_owner}
    query = {name: value for name, value in given.items() if value is not None}
    read = msgspec.json.Decoder(dict[str, Any]).decode
    return Call(method="GET", path=f"{_one(key, channel)}/diff", read=read, query=query)


def customise(
    key: str, channel: str, *, semver: str | None = None, note_only: bool = False
) -> Call[dict[str, Any]]:
    """Copy the platform's template into a draft of one's own, or only note its version in force."""
    given = {"semver": semver, "note_only": note_only or None}
    return _verb(
        key, channel, "customise", {name: value for name, value in given.items() if value is not None}
    )


def archive(key: str, channel: str, *, reason: str | None = None) -> Call[dict[str, Any]]:
    """Put a whole template away; the platform's of the same key counts again."""
    return _verb(key, channel, "archive", {} if reason is None else {"reason": reason})


def restore(key: str, channel: str, *, reason: str | None = None) -> Call[dict[str, Any]]:
    """Take an archived template back as it was."""
    return _verb(key, channel, "restore", {} if reason is None else {"reason": reason})


def publish(key: str, channel: str, semver: str, *, reason: str | None = None) -> Call[dict[str, Any]]:
    """Put a version in force; publishing what is in force changes nothing, so it can be repeated."""
    return _act(key, channel, semver, "publish", {} if reason is None else {"reason": reason})


def preview(
    key: str, channel: str, semver: str, wanted: Mapping[str, Any], *, owner: str | None = None
) -> Call[dict[str, Any]]:
    """A version as somebody would see it; `owner="platform"` for one of the platform's."""
    query = {} if owner is None else {"owner": owner}
    return _act(key, channel, semver, "preview", wanted, query=query)


def preview_page(
    key: str, channel: str, semver: str, wanted: Mapping[str, Any], *, owner: str | None = None
) -> Call[str]:
    """The same as a page for a browser, in a frame as wide as was wanted."""
    call = preview(key, channel, semver, wanted, owner=owner)
    return Call(
        method=call.method,
        path=call.path,
        read=bytes.decode,
        query=call.query,
        body=call.body,
        accept="text/html, */*;q=0.1",
    )


def _verb(key: str, channel: str, verb: str, content: Mapping[str, Any]) -> Call[dict[str, Any]]:
    return Call(
        method="POST",
        path=f"{_one(key, channel)}/{verb}",
        read=msgspec.json.Decoder(dict[str, Any]).decode,
        body=msgspec.json.encode(content),
    )


def _act(
    key: str,
    channel: str,
    semver: str,
    verb: str,
    content: Mapping[str, Any],
    *,
    query: Mapping[str, str] | None = None,
) -> Call[dict[str, Any]]:
    return Call(
        method="POST",
        path=f"{_one(key, channel)}/versions/{quote(semver, safe='')}/{verb}",
        read=msgspec.json.Decoder(dict[str, Any]).decode,
        query=query or {},
        body=msgspec.json.encode(content),
    )


def _one(key: str, channel: str) -> str:
    return f"{_HOME}/{quote(key, safe='')}/{quote(channel, safe='')}"
