"""What the public pages say, in the languages that they speak; English where a language is not among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from tidings.kernel.translations import SOURCE_LANGUAGE, Catalogue, read_catalogues
from tidings.notify.render.locales import direction_of, language_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStrings:
    """One language: a field is a key of the catalogues in `translations/`. `{tenant}` is the sender's name, `{zone}` a time zone."""

    language: str
    direction: str
    unsubscribe: str
    ask: str
    other_choices: str
    done_title: str
    done: str
    changed_mind: str
    everything: str
    choices_title: str
    choices_intro: str
    consent_note: str
    always_note: str
    digest_how: str
    digest_day: str
    digest_at: str
    digest_note: str
    digest_wrong: str
    save: str
    all_off: str
    saved: str
    off_note: str
    stale: str
    help: str
    unknown_title: str
    unknown: str
    expired_title: str
    expired: str
    busy_title: str
    busy: str
    confirm_title: str
    confirm_ask: str
    confirm: str
    confirmed_title: str
    confirmed: str
    confirmed_but_off: str
    down_title: str
    down: str
    #: How often messages of a category come, by the forms of the list.
    often: Mapping[str, str]
    channels: Mapping[str, str]
    categories: Mapping[str, str]

    def category(self, name: str | None) -> str:
        """What people call a category."""
        if name is None:
            return self.everything
        return self.categories.get(name) or name.replace("_", " ").capitalize()

    def channel(self, name: str) -> str:
        """What people call a channel."""
        return self.channels.get(name, name)


@cache
def languages() -> Mapping[str, PageStrings]:
    """The languages that the pages speak, by the language's code; read once, at first use."""
    return {code: _page_strings(found) for code, found in read_catalogues(__package__).items()}


def strings_for(locale: str) -> PageStrings:
    """The language of a locale, or English."""
    return languages().get(language_of(locale)) or languages()[SOURCE_LANGUAGE]


def strings_accepted(header: str | None) -> PageStrings:
    """What a browser asks for first and we speak, or English; for pages that don't know their reader."""
    for part in (header or "")[:500].split(","):
        found = languages().get(language_of(part.partition(";")[0].strip()))
        if found is not None:
            return found
    return languages()[SOURCE_LANGUAGE]


def _page_strings(catalogue: Catalogue) -> PageStrings:
    texts = {key: text for key, text in catalogue.texts.items() if "." not in key}
    return PageStrings(
        language=catalogue.language,
        direction=direction_of(catalogue.language),
        often=_labels("often.", catalogue),
        channels=_labels("channel.", catalogue),
        categories=_labels("category.", catalogue),
        **texts,
    )


def _labels(prefix: str, catalogue: Catalogue) -> Mapping[str, str]:
    return {key.removeprefix(prefix): text for key, text in catalogue.texts.items() if key.startswith(prefix)}
