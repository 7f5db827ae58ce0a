"""What happens to templates, as events; ids and facts, never a text."""

from msgspec import Struct


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
