"""Every gettext catalogue has every text, with the placeholders of the English one, and none that nobody shows."""

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from tidings.contracts.tenants import Channel
from tidings.kernel.signed_webhooks.call import WebhookFailure
from tidings.notify.preference_center.strings import PageStrings, languages
from tidings.notify.webhook_portal import desk, visits
from tidings.notify.webhook_portal import strings as portal_strings
from tidings.notify.webhook_portal.endpoint_pages import SPANS
from tidings.notify.webhooks.model import WebhookDeliveryStatus, WebhookStatus
from tidings.router.conversations.keyword_lists import LANGUAGES
from tidings.router.conversations.model import ConfirmationKind

SRC = Path(__file__).parents[2] / "src/tidings"
PAGES = SRC / "notify/preference_center/translations"
PORTAL = SRC / "notify/webhook_portal/translations"
REPLIES = SRC / "router/conversations/translations"


def read(path: Path) -> tuple[Catalog, dict[str, Message]]:
    with path.open("rb") as opened:
        catalogue = read_po(opened, abort_invalid=True)
    return catalogue, {str(message.context): message for message in catalogue if message.id}


@pytest.mark.parametrize(
    "path", sorted(SRC.rglob("translations/*.po")), ids=lambda path: f"{path.parts[-3]}-{path.stem}"
)
def test_a_catalogue_is_whole_and_has_the_same_placeholders(path: Path) -> None:
    catalogue, texts = read(path)
    _, source = read(path.with_name("source.pot"))

    assert (catalogue.locale_identifier or "").split("_")[0] == path.stem
    assert texts.keys() == source.keys()
    assert not catalogue.obsolete
    for key, text in texts.items():
        assert text.id == source[key].id, f"{key}: the English text has changed"
        assert text.string, key
        assert not text.fuzzy, key
        assert sorted(re.findall(r"\{\w*\}", str(text.string))) == sorted(
            re.findall(r"\{\w*\}", str(text.id))
        )
        assert source[key].auto_comments, f"{key}: a translator needs to know where it stands"


def test_every_text_of_a_source_is_shown_somewhere() -> None:
    shown = {field.name for field in fields(PageStrings)} - {
        "language",
        "direction",
        "often",
        "channels",
        "categories",
    }
    labels = {f"channel.{channel}" for channel in get_args(Channel)}

    _, pages = read(PAGES / "source.pot")
    _, replies = read(REPLIES / "source.pot")

    assert {key for key in pages if "." not in key} == shown
    assert {key for key in pages if key.startswith("channel.")} == labels
    assert {key for key in pages if key.startswith("often.")} == {
        f"often.{form}" for form in ("usual", "kept", "now", "hour", "day", "week", "days", "while")
    }
    assert replies.keys() == set(get_args(ConfirmationKind))


def test_there_is_a_catalogue_for_every_language() -> None:
    assert languages().keys() == {path.stem for path in PAGES.glob("*.po")} | {"en"}
    assert {path.stem for path in REPLIES.glob("*.po")} | {"en"} == set(LANGUAGES)


def test_the_portal_has_a_text_for_all_that_it_says() -> None:
    """A field of its own for each text, and a label for each status, reason and error."""
    _, texts = read(PORTAL / "source.pot")
    labels = portal_strings.LABELS
    plain = {field.name for field in fields(portal_strings.PortalStrings)} - {
        "language",
        "direction",
        *labels,
    }
    english = portal_strings.languages()["en"]
    code = "".join(file.read_text() for file in PORTAL.parent.glob("*.py"))

    assert {key for key in texts if "." not in key} == plain
    assert {key for key in plain if not re.search(rf"words\.{key}\b", code)} == set()
    assert {f"{key.partition('.')[0]}." for key in texts if "." in key} == set(labels.values())
    assert english.statuses.keys() == {"failing", *WebhookStatus}
    assert english.delivery_statuses.keys() == set(WebhookDeliveryStatus)
    assert english.reasons.keys() == {
        *get_args(WebhookFailure),
        "token",
        "too_large",
        "discarded",
        "unreadable",
    }
    assert english.errors.keys() == {*get_args(visits.Refusal), *desk.FIELD_ERRORS}
    assert english.spans.keys() == {str(hours) for hours in SPANS}
    assert {key for key in english.notes if not re.search(rf'("|note=){key}["&]', code)} == set()
    assert {key for key in english.settings_labels if f'labels["{key}"]' not in code} == set()


def test_the_portal_speaks_the_languages_of_the_other_pages() -> None:
    assert portal_strings.languages().keys() == languages().keys()
