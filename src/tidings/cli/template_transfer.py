"""What commands about templates ask of the server."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidings.cli.api_command import Api
from tidings.cli.command import JsonObject, without_none
from tidings.cli.failures import CommandError

if TYPE_CHECKING:
    from tidings.cli.template_folder import Name
    from tidings_client import ProblemError


def fetch(api: Api, names: "Sequence[Name]", *, active: bool, platform: bool) -> dict[str, bytes]:
    """The server's files of these templates, or of all."""
    from tidings.cli.printing import shown
    from tidings.notify.templates.bundle.archive import ArchiveLimits, unpack

    # What a server gives may be more than it takes at once; its names are looked at as strictly, but for those that
    # matter only where they are written.
    limits = ArchiveLimits(files=50_000, bytes_in_all=512 * 1024 * 1024, devices=True)
    found: dict[str, bytes] = {}
    all_of_them: list[tuple[str | None, str | None]] = [(None, None)]
    for wanted in [(name.key, name.channel) for name in names] or all_of_them:
        query = without_none(key=wanted[0], channel=wanted[1])
        query |= without_none(version="active" if active else None, owner="platform" if platform else None)
        unpacked = unpack(b"".join(api.download("export_templates", query=query)), limits)
        if unpacked.findings:
            first = unpacked.findings[0]
            raise CommandError(f"the server's zip is not in order: {shown(first.file)} {first.what}")
        found |= unpacked.files
    return found


def give(api: Api, packed: bytes, *, dry_run: bool) -> JsonObject:
    """Send a zip; the report, also of one that was refused: then nothing is written."""
    from tidings_client import ProblemError

    try:
        return _import(api, packed, dry_run=dry_run)
    except ProblemError as problem:
        if problem.code != "template_bundle_refused":
            raise
    return _import(api, packed, dry_run=True)


def _import(api: Api, packed: bytes, *, dry_run: bool) -> JsonObject:
    query = {"dry_run": dry_run or None}
    return api.call("import_templates", body=packed, query=query, media_type="application/zip")


def findings_of(problem: "ProblemError") -> list[JsonObject]:
    """What stands in the way of publishing or taking a zip, as the server's refusal tells it."""
    # A server that tells no more than the wrong fields is understood as well.
    fields = [{"severity": "error", "file": one.field, "what": one.remedy} for one in problem.errors]
    return [dict(one) for one in problem.problem.report] or fields


def newest(api: Api, key: str, channel: str, statuses: Sequence[str], *, owner: str | None = None) -> str:
    """The number of the newest version with one of these statuses; a `CommandError` where there is none."""

    for line in api.call("list_versions", key, channel, query={"owner": owner})["items"]:
        if line["status"] in statuses:
            return str(line["semver"])
    raise CommandError(
        f"{key}/{channel} has no version here that is {' or '.join(statuses)}; `tidings template push` sends a draft"
    )


def every_template(api: Api, *, key: str | None = None, status: str | None = None) -> list[JsonObject]:
    """All templates that can be used, page by page."""
    return api.list_all("list_templates", key=key, status=status, limit=200)


def drafts_of(api: Api, name: "Name") -> list[tuple[str, str]]:
    """The channels of a key that have a draft as their latest version, each with its number; a `CommandError` where none is."""
    lines = every_template(api, key=name.key)
    own = [line for line in lines if line["owner"] == "tenant"] or lines
    found = [
        (line["channel"], line["latest_version"])
        for line in own
        if line["latest_status"] == "draft" and line["latest_version"] is not None
    ]
    if not found:
        raise CommandError(f"{name.key} has no draft in any channel; `tidings template push` sends one")
    return sorted(found)
