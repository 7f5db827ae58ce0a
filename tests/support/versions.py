"""Versions that were never stored, and the validator's report on them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tests.support.rendering import Rendering
from tidings.contracts.tenants import Channel
from tidings.notify.ids import TEMPLATE, TEMPLATE_VERSION
from tidings.notify.templates.assemble import AssemblyContext
from tidings.notify.templates.model import (
    LinkPolicy,
    LocaleText,
    Source,
    TemplateVersion,
    VersionSource,
    VersionStatus,
)
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.validate import ValidationReport, ValidationRequest, examine

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def draft_version(
    sources: Mapping[str, Source],
    *,
    samples: Mapping[str, Mapping[str, Any]] | None = None,
    schema: Mapping[str, Any] | None = None,
    partials: Mapping[str, str] | None = None,
    strings: Mapping[str, Mapping[str, str]] | None = None,
    layout: str | None = None,
) -> TemplateVersion:
    """A draft with these texts; any variable is declared unless a schema says otherwise."""
    return TemplateVersion(
        id=TEMPLATE_VERSION.new(_NOW),
        template_id=TEMPLATE.new(_NOW),
        tenant_id=None,
        semver=Semver(1, 0, 0),
        status=VersionStatus.DRAFT,
        source=VersionSource.TENANT,
        created_by="t",
        approver_user_id=None,
        supersedes_id=None,
        variables_schema=schema or {"type": "object"},
        fallback_chain=(),
        samples=samples if samples is not None else {"none": {}},
        locales={tag: LocaleText(source=source) for tag, source in sources.items()},
        published_at=None,
        archived_at=None,
        version=1,
        updated_at=_NOW,
        partials=partials or {},
        strings=strings or {},
        layout=layout,
    )


def validated(
    rendering: Rendering,
    version: TemplateVersion,
    *,
    key: str = "welcome",
    channel: Channel = "email",
    layouts: Mapping[str, str] | None = None,
) -> ValidationReport:
    """What the validator says about it."""
    around = AssemblyContext(key=key, channel=channel, default_locale="en", layouts=layouts or {})
    return examine(ValidationRequest(version=version, around=around, links=LinkPolicy()), rendering.tools)
