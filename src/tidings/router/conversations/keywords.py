"""Whether a message is nothing but STOP, START or HELP, in any of our languages; no I/O."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tidings.router.conversations.keyword_lists import CARRIER_STOP, HELP, LANGUAGES, START, STOP
from tidings.router.conversations.model import Action

#: Longer ones are no keyword, and are not looked at.
_LONGEST: Final = 60
_SPACES: Final = re.compile(r"\s+")
#: Letters that are their own in Unicode and that many keyboards lack, and letters of one sound in Arabic, Persian and Pashto.
_ALIKE: Final = str.maketrans(
    {
        "ɗ": "d",
        "ɓ": "b",
        "ƙ": "k",
        "ƴ": "y",
        "ı": "i",
        "ي": "ی",
        "ى": "ی",
        "ې": "ی",
        "ۍ": "ی",
        "ك": "ک",
        "ة": "ه",
        "ګ": "گ",
        "ښ": "ش",
        "ړ": "ر",
        "ټ": "ت",
        "ډ": "د",
        "ڼ": "ن",
        "\u0640": "",
    }
)
#: Between the letters of one word: N'IHU.
_WITHIN: Final = frozenset("'’ʼ`´")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyword:
    """What a message asks for."""

    action: Action
    #: As the list has it.
    word: str
    #: In which the confirmation is written.
    language: str


def bare(text: str) -> str:
    """A text without case, accents, marks, signs and pictures: what is left to compare."""
    flat = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    kept: list[str] = []
    for letter in flat.translate(_ALIKE):
        kind = unicodedata.category(letter)
        if kind[0] == "L":
            kept.append(letter)
        elif kind[0] == "N":
            # Digits of every script are one.
            kept.append(str(unicodedata.digit(letter, letter)))
        elif kind[0] == "M" or kind == "Cf" or letter in _WITHIN:
            # Accents, joiners, directions: people do not see or type them the same way twice.
            continue
        else:
            kept.append(" ")
    return _SPACES.sub(" ", "".join(kept)).strip()


def read_keyword(text: str, *, stop_words: Iterable[str] = (), also_usual: bool = False) -> Keyword | None:
    """What the whole message asks for; None where it is anything else, also a sentence with such a word in it.

    `stop_words`: those of a policy. They take the place of our lists for STOP, unless `also_usual`, because a shop may
    have to hear CANCEL as an order. What carriers oblige all senders to heed counts always.
    """
    if len(text) > _LONGEST:
        return None
    said = bare(text)
    if not said:
        return None
    own = {bare(word): word for word in stop_words}
    if said in own:
        usual = _STOP.get(said)
        return Keyword(action="stop", word=own[said], language=usual.language if usual else "en")
    stop = _STOP.get(said)
    if stop is not None and (not own or also_usual or said in _CARRIER):
        return stop
    return _START.get(said) or _HELP.get(said)


def _index(action: Action, lists: Mapping[str, tuple[str, ...]]) -> dict[str, Keyword]:
    found: dict[str, Keyword] = {}
    for language in LANGUAGES:
        for word in lists[language]:
            found.setdefault(bare(word), Keyword(action=action, word=word, language=language))
    return found


_STOP: Final = _index("stop", STOP)
_START: Final = _index("start", START)
_HELP: Final = _index("help", HELP)
_CARRIER: Final = frozenset(map(bare, CARRIER_STOP))
