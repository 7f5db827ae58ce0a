"""What commands about templates ask of the server."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidings.cli.failures import CommandError

if TYPE_CHECKING:
    from tidings.cli.template_folder import Name
    from tidings_client import Tidings
    from tidings_client.templates import ImportReport, TemplateLine


def fetch(tidings: "Tidings", names: "Sequence[Name]", *, active: bool, platform: bool) -> dict[str, bytes]:
    """The server's files of these templates, or of all."""
    from tidings.cli.printing import shown
    from tidings.notify.templates.bundle.archive import ArchiveLimits, unpack
    from tidings_client import templates as calls

    # What a server gives may be more than it takes at once; its names are looked at as strictly, but for those that
    # matter only where they are written.
    limits = ArchiveLimits(files=50_000, bytes_in_all=512 * 1024 * 1024, devices=True)
    found: dict[str, bytes] = {}
    all_of_them: list[tuple[str | None, str | None]] = [(None, None)]
    for wanted in [(name.key, name.channel) for name in names] or all_of_them:
        packed = tidings.call(
            calls.export(
                key=wanted[0],
                channel=wanted[1],
                version="active" if active else None,
                owner="platform" if platform else None,
            )
        )
        unpacked = unpack(packed, limits)
        if unpacked.findings:
            first = unpacked.findings[0]
            raise CommandError(f"the server's zip is not in order: {shown(first.file)} {first.what}")
        found |= unpacked.files
    return found


def give(tidings: "Tidings", packed: bytes, *, dry_run: bool) -> "ImportReport":
    """Send a zip; the report, also of one that was refused: then nothing is written."""
    from tidings_client import ProblemError
    from tidings_client import templates as calls

    try:
        return tidings.call(calls.import_(packed, dry_run=dry_run))
    except ProblemError as problem:
        if problem.code != "template_bundle_refused":
            raise
    return tidings.call(calls.import_(packed, dry_run=True))


def newest(
    tidings: "Tidings", key: str, channel: str, statuses: Sequence[str], *, owner: str | None = None
) -> str:
    """The number of the newest version with one of these statuses; a `CommandError` where there is none."""
    from tidings_client import templates as calls

    for line in tidings.call(calls.versions(key, channel, owner=owner)).items:
        if line.status in statuses:
            return line.semver
    raise CommandError(
        f"{key}/{channel} has no version here that is {' or '.join(statuses)}; `tidings template push` sends a draft"
    )


def every_template(
    tidings: "Tidings", *, key: str | None = None, channel: str | None = None, status: str | None = None
) -> "list[TemplateLine]":
    """All templates that can be used, page by page."""
    from tidings_client import templates as calls

    found: list[TemplateLine] = []
    cursor: str | None = None
    while True:
        page = tidings.call(calls.list_(key=key, channel=channel, status=status, cursor=cursor))
        found += page.items
        if (cursor := page.next_cursor) is None:
            return found


def drafts_of(tidings: "Tidings", name: "Name") -> list[tuple[str, str]]:
    """The channels of a key whose latest version is a draft, each with its number; a `CommandError` where none is."""
    lines = every_template(tidings, key=name.key)
    own = [line for line in lines if line.owner == "tenant"] or lines
    found = [
        (line.channel, line.latest_version)
        for line in own
        if line.latest_status == "draft" and line.latest_version is not None
    ]
    if not found:
        raise CommandError(f"{name.key} has no draft in any channel; `tidings template push` sends one")
    return sorted(found)
