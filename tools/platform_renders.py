"""The platform's templates as people get them: every locale of each, filled with a sample."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tidings.notify.render.engine import V8Renderer
from tidings.notify.render.model import Brand, Content, Rendered, RenderJob
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.model import LinkPolicy
from tidings.notify.templates.platform.files import PlatformTemplate, read_set

#: Who is written to, by the script that they read.
_NAMES: Final[Mapping[str, str]] = {"ar": "ليلى", "fa-AF": "لیلا", "ps-AF": "لیلا"}
_ZONE: Final = "Asia/Kabul"


@dataclass(frozen=True, slots=True, kw_only=True)
class Render:
    """One message."""

    template: PlatformTemplate
    locale: str
    sample: str
    message: Rendered


Samples = Callable[[PlatformTemplate, str], Sequence[tuple[str, Mapping[str, Any]]]]


def own_sample(template: PlatformTemplate, locale: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """The one in the locale's language, or the first."""
    return every_sample(template, locale)[:1]


def every_sample(template: PlatformTemplate, locale: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Those for everybody; one that is named after the locale comes first."""
    samples = template.spec.samples
    own = [(locale, samples[locale])] if locale in samples else []
    return own + [(name, sample) for name, sample in samples.items() if name not in template.spec.locales]


async def rendered_set(samples: Samples = own_sample) -> list[Render]:
    """Every template in every locale, filled with what `samples` gives for it."""
    wanted: list[tuple[PlatformTemplate, str, str]] = []
    jobs: list[RenderJob] = []
    for template in read_set():
        for locale, source in template.spec.locales.items():
            compiled = compile_source(source, locale=locale, links=LinkPolicy())
            content = Content(
                key=f"{template.key}/{template.channel}/{locale}",
                locale=locale,
                direction=compiled.direction,
                subject=compiled.subject,
                html=compiled.html,
                text=compiled.text,
            )
            for sample, variables in samples(template, locale):
                wanted.append((template, locale, sample))
                jobs.append(
                    RenderJob(
                        content=content,
                        variables=variables,
                        locale=locale,
                        time_zone=_ZONE,
                        recipient_name=_NAMES.get(locale, "Laila"),
                        tenant_name="Saffron House",
                        brand=Brand(name="Saffron House"),
                        preferences_url="https://example.com/p/token",
                        unsubscribe_url=(
                            "https://example.com/u/token"
                            if template.spec.category in ("reminder", "operational")
                            else None
                        ),
                    )
                )
    renderer = V8Renderer()
    try:
        messages = await renderer.render(jobs)
    finally:
        await renderer.close()
    renders = []
    for (template, locale, sample), message in zip(wanted, messages, strict=True):
        if not isinstance(message, Rendered):
            raise TypeError(f"{template.key} {template.channel} {locale} {sample}: {message.detail}")
        renders.append(Render(template=template, locale=locale, sample=sample, message=message))
    return renders
