"""What the operations on templates share: their resource, the values in their paths, the answer with a version."""

from typing import Annotated

from tidings.kernel.http.answers import Answer
from tidings.kernel.http.injection import ParsedTogether
from tidings.kernel.http.resources import Owner, Resource
from tidings.notify.templates.model import TemplateName, TemplateVersion, VersionName
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.wire import VersionView, channel_of, key_of

TEMPLATE = "/{key}/{channel}"
VERSION = f"{TEMPLATE}/versions/{{semver}}"

#: The problems of every operation on one version.
UNKNOWN = ("template_not_found", "template_version_not_found")


def _semver_of(text: str) -> str:
    return str(Semver.parse(text))


TemplateInPath = Annotated[TemplateName, ParsedTogether(TemplateName, key=key_of, channel=channel_of)]
VersionInPath = Annotated[
    VersionName, ParsedTogether(VersionName, key=key_of, channel=channel_of, semver=_semver_of)
]


def template_resource() -> Resource:
    """Operations on the templates of a tenant, or on the platform's."""
    return Resource(
        "templates",
        at="/templates",
        tag="templates",
        scope="templates",
        owner=Owner.CALLER,
        note="A platform key that names no tenant works on the platform's templates.",
    )


def version_answer(version: TemplateVersion) -> Answer[VersionView]:
    """A version with its ETag."""
    return Answer(VersionView.of(version), version=version.version)
