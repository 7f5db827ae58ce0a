"""A message that is nothing but a keyword is heard, however it is written; a sentence never is."""

import pytest

from tidings.router.conversations.keyword_lists import HELP, LANGUAGES, START, STOP
from tidings.router.conversations.keyword_replies import confirmation
from tidings.router.conversations.keywords import read_keyword
from tidings.router.conversations.model import ConfirmationKind


@pytest.mark.parametrize(
    ("text", "action", "language"),
    [
        ("STOP", "stop", "en"),
        ("  stop!!  ", "stop", "en"),
        ("ＳＴＯＰ", "stop", "en"),
        ("Stop 🛑", "stop", "en"),
        ("stop\u200b", "stop", "en"),
        ("unsubscribe.", "stop", "en"),
        ("arrêt", "stop", "fr"),
        ("ARRET", "stop", "fr"),
        ("désabonner", "stop", "fr"),
        ("Baja", "stop", "es"),
        ("cancelar suscripcion", "stop", "es"),
        ("SAIR", "stop", "pt"),
        ("cancelar inscrição", "stop", "pt"),
        ("إلغاء", "stop", "ar"),
        ("الغاء", "stop", "ar"),
        ("توقّف", "stop", "ar"),
        ("تـوقـف", "stop", "ar"),
        ("لغو", "stop", "fa"),
        ("لغو۱۱", "stop", "fa"),
        ("لغو11", "stop", "fa"),
        ("لغو اشتراك", "stop", "fa"),
        ("ودروه", "stop", "ps"),
        ("بند کړه", "stop", "ps"),
        ("dakata", "stop", "ha"),
        ("Daina!", "stop", "ha"),
        ("dúró", "stop", "yo"),
        ("DURO", "stop", "yo"),
        ("dáwọ́ dúró", "stop", "yo"),
        ("kwụsị", "stop", "ig"),
        ("KWUSI", "stop", "ig"),
        ("start", "start", "en"),
        ("Début", "start", "fr"),
        ("começar", "start", "pt"),
        ("ابدأ", "start", "ar"),
        ("شروع", "start", "fa"),
        ("fara", "start", "ha"),
        ("bere", "start", "yo"),
        ("gaa n’ihu", "start", "ig"),
        ("Help", "help", "en"),
        ("aide", "help", "fr"),
        ("مساعدة", "help", "ar"),
        ("کمک", "help", "fa"),
        ("taimako", "help", "ha"),
        ("Ìrànlọ́wọ́", "help", "yo"),
    ],
)
def test_a_word_alone_is_heard(text: str, action: str, language: str) -> None:
    found = read_keyword(text)

    assert found is not None
    assert (found.action, found.language) == (action, language)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "🛑",
        "please don't stop",
        "where is the bus stop?",
        "stopover",
        "end of story",
        "stop " * 20,
        "ابدأ الآن من فضلك",
    ],
)
def test_a_sentence_is_none(text: str) -> None:
    assert read_keyword(text) is None


def test_a_policys_words_take_the_place_of_ours() -> None:
    """A shop hears CANCEL as an order, and still has to hear what carriers oblige it to."""
    own = ["BASTA", "No more"]

    assert read_keyword("cancel", stop_words=own) is None
    assert read_keyword("cancel", stop_words=own, also_usual=True) is not None
    for text in ("basta", "NO MORE!", "stop", "unsubscribe", "StopAll"):
        found = read_keyword(text, stop_words=own)
        assert found is not None, text
        assert found.action == "stop"
    assert read_keyword("help", stop_words=own) is not None


def test_a_policys_word_for_stop_is_not_start() -> None:
    """What the tenant says comes first."""
    found = read_keyword("start", stop_words=["START"])

    assert found is not None
    assert found.action == "stop"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_words_and_answers(language: str) -> None:
    kinds: list[ConfirmationKind] = ["stop_confirmation", "start_confirmation", "help"]
    for kind, words in zip(kinds, (STOP, START, HELP), strict=True):
        text = confirmation(kind, language, name="The Clinic")

        assert words[language]
        assert "The Clinic" in text
        assert "{" not in text
        assert len(text) <= 160
        # An answer that were a keyword itself could set two machines talking.
        assert read_keyword(text) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_answers_tell_people_to_write_is_heard(language: str) -> None:
    """START in the goodbye, STOP in the welcome: in the language that they are told it in."""
    asked: list[tuple[ConfirmationKind, str]] = [
        ("stop_confirmation", "start"),
        ("start_confirmation", "stop"),
        ("help", "stop"),
    ]
    for kind, action in asked:
        text = confirmation(kind, language, name="Clinic")
        heard = {found.action for word in text.replace(".", " ").split() if (found := read_keyword(word))}

        assert action in heard, (language, kind)
