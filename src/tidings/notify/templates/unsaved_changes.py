"""A version as it would be with changes that are not saved: previews and the validator are asked about it while somebody types."""

from dataclasses import replace

from msgspec import structs

from tidings.notify.templates.create_version import VersionSpec, content_of
from tidings.notify.templates.model import TemplateVersion
from tidings.notify.templates.wire import ChangeVersion, CreateVersion, VersionContent


def with_changes(version: TemplateVersion, changes: ChangeVersion | None) -> TemplateVersion:
    """The version with them; its pictures stay."""
    if changes is None:
        return version
    return replace(version, **content_of(spec_of(str(version.semver), changes.onto(version))))


def spec_of(semver: str, content: VersionContent) -> VersionSpec:
    """What a draft is to say, for the inside."""
    return CreateVersion(semver=semver, **structs.asdict(content)).spec()
