"""Our answers to STOP, START and HELP, in the language of the keyword; the texts are in `translations/`."""

from collections.abc import Mapping
from functools import cache

from tidings.kernel.translations import SOURCE_LANGUAGE, Catalogue, read_catalogues
from tidings.router.conversations.model import ConfirmationKind


def confirmation(kind: ConfirmationKind, language: str, *, name: str) -> str:
    """The answer; `name` is what the tenant is called."""
    catalogue = _catalogues().get(language) or _catalogues()[SOURCE_LANGUAGE]
    return catalogue.texts[kind].replace("{name}", name)


@cache
def _catalogues() -> Mapping[str, Catalogue]:
    return read_catalogues(__package__)
