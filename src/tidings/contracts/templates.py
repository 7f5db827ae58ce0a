"""What happens to templates, as events (ids and facts, never a text), and what the validator says about them."""

from typing import Literal

from msgspec import Struct


class TemplateFinding(Struct, frozen=True, kw_only=True):
    """One thing that the validator found, for whoever wrote it."""

    #: An error stands in the way of publishing; a warning does not.
    severity: Literal["error", "warning"]
    #: Where it is in an exported zip: `templates/welcome/email/fa-AF/body.html`.
    file: str
    #: The locale it is about; null where it is about all of them.
    locale: str | None = None
    #: Where it is in the body of the request that made the version: `locales.fa-AF.body`.
    field: str
    #: Both counted from 1; null where it is about the whole file.
    line: int | None = None
    column: int | None = None
    #: What is wrong.
    what: str
    #: How to mend it.
    how: str


class TemplatePublished(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A version came into force."""

    template_id: str
    key: str
    channel: str
    version_id: str
    semver: str
    locales: tuple[str, ...]
    #: The version that was in force before.
    supersedes_id: str | None = None
    #: Whether it had been in force earlier and came back.
    rolled_back: bool = False


TEMPLATE_EVENTS: dict[str, type[Struct]] = {"template.published.v1": TemplatePublished}
