"""Zips of templates as JSON: what may be asked, and the report."""

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from tidings.contracts.templates import TemplateFinding
from tidings.contracts.tenants import Channel
from tidings.notify.templates.bundle.archive import UnpackedFiles
from tidings.notify.templates.bundle.import_bundle import ImportResult
from tidings.notify.templates.bundle.layout import ASSETS
from tidings.notify.templates.bundle.plan import Outcome, PlannedDraft


class ImportTemplatesQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to take a zip."""

    #: Only say what would happen; write nothing.
    dry_run: bool = False


class ExportTemplatesQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which templates to give."""

    key: str | None = None
    channel: str | None = None
    #: `newest`: a draft that is newer than what is in force, else that. `active`: what is in force.
    version: Literal["newest", "active"] = "newest"
    #: `platform`: the platform's templates, to begin from.
    owner: Literal["own", "platform"] = "own"


FileOutcome = Literal["taken", "faulty", "ignored", "refused"]


class FileReport(Struct, frozen=True, kw_only=True):
    """One file of the zip."""

    file: str
    #: `taken`; `faulty`: taken, and to be mended before it is published; `ignored`: not kept; `refused`: nothing
    #: of the zip is taken before this is mended.
    outcome: FileOutcome


class TemplateReport(Struct, frozen=True, kw_only=True):
    """One folder of the zip."""

    key: str
    channel: Channel
    semver: str
    #: `created`: a new draft; `replaced`: the draft says now what the files say; `unchanged`: it did before.
    outcome: Outcome

    @classmethod
    def of(cls, taken: PlannedDraft) -> "TemplateReport":
        """The folder as it is shown."""
        return cls(
            key=taken.template.key,
            channel=taken.template.channel,
            semver=str(taken.version.semver),
            outcome=taken.outcome,
        )


class ImportReport(Struct, frozen=True, kw_only=True):
    """What became of a zip, file by file."""

    dry_run: bool
    #: Whether the drafts are there now.
    written: bool
    #: Whether nothing stands in the way of publishing them; false too where the validator did not reach all of them.
    publishable: bool
    templates: tuple[TemplateReport, ...]
    files: tuple[FileReport, ...]
    #: What has to be mended before it can be taken or published, and what is worth a look.
    findings: tuple[TemplateFinding, ...]


def report_of(unpacked: UnpackedFiles, imported: ImportResult, *, dry_run: bool) -> ImportReport:
    """The report on a zip."""
    findings = (*imported.findings, *imported.checked)
    return ImportReport(
        dry_run=dry_run,
        written=not dry_run,
        publishable=not imported.unreached and not any(found.severity == "error" for found in findings),
        templates=tuple(TemplateReport.of(one) for one in imported.taken),
        files=tuple(_files(unpacked, imported)),
        findings=findings,
    )


def _files(unpacked: UnpackedFiles, imported: ImportResult) -> Iterator[FileReport]:
    """A line for every file, and for those that should be there and are not."""
    refused, faulty = _wrong(imported.findings), _wrong(imported.checked)
    ignored = {*unpacked.ignored, *(path for path in unpacked.files if path.startswith(f"{ASSETS}/"))}
    for path in sorted({*unpacked.files, *ignored, *refused}):
        outcome: FileOutcome = "taken"
        if path in refused:
            outcome = "refused"
        elif path in faulty:
            outcome = "faulty"
        elif path in ignored:
            outcome = "ignored"
        yield FileReport(file=path, outcome=outcome)


def _wrong(findings: Sequence[TemplateFinding]) -> set[str]:
    return {found.file for found in findings if found.severity == "error" and found.file}
