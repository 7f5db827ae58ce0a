"""The table of docs/conformance.md: every adapter, every question, and what the suite found."""

from collections.abc import Mapping

from tests.conformance.adapters import test_sending, test_telling
from tests.conformance.adapters.player import HttpPlayer
from tests.conformance.adapters.players import PLAYERS
from tests.conformance.adapters.questions import QUESTIONS
from tidings.router.adapters.registry import ADAPTERS

#: Questions that are about callbacks.
_CALLBACKS = frozenset(
    {
        "test_signed_examples_verify",
        "test_one_byte_changed_is_refused",
        "test_unsigned_and_stale_is_refused",
        "test_callbacks_are_read",
        "test_nothing_makes_the_reader_fall",
    }
)


def asked() -> dict[str, str]:
    """The questions in the order in which they are written, whichever of their files was imported first."""
    return {
        name: QUESTIONS[name]
        for file in (test_sending, test_telling)
        for name in vars(file)
        if name in QUESTIONS
    }


def cells() -> list[tuple[str, str]]:
    """Every adapter with every question that there is for it."""
    return [(name, test) for name in sorted(ADAPTERS) for test in asked() if _applies(name, test)]


def page(found: Mapping[tuple[str, str], bool]) -> str:
    """The page, by adapter and test: what was asked and how it was answered."""
    questions = asked()
    numbered = {test: number for number, test in enumerate(questions, start=1)}
    listed = "\n".join(f"{numbered[test]}. {words}." for test, words in questions.items())
    head = " | ".join(str(number) for number in numbered.values())
    rows = "\n".join(
        f"| `{name}` | " + " | ".join(_cell(found, name, test) for test in questions) + " |"
        for name in sorted(ADAPTERS)
    )
    sources = "\n".join(
        f"- `{name}`: {'; '.join(dict.fromkeys(example.source for example in player.examples))}"
        for name, player in PLAYERS.items()
        if player.examples
    )
    return f"""# Conformance: every adapter, the same questions

Written by the suite in `tests/conformance/adapters`: `make docs` asks all of them again.
Vendors are played on loopback with the replies that they document or that were recorded; the real adapter speaks to a real socket.

{listed}

✓ it does; ✗ it does not; – there is nothing to ask.

| adapter | {head} |
|---|{"---|" * len(numbered)}
{rows}

## Where the signed examples are from

{sources}
"""


def _cell(found: Mapping[tuple[str, str], bool], name: str, test: str) -> str:
    if not _applies(name, test):
        return "–"
    return {True: "✓", False: "✗", None: "?"}[found.get((name, test))]


def _applies(name: str, test: str) -> bool:
    kind = ADAPTERS[name]
    if test in _CALLBACKS:
        return kind.callbacks is not None
    if test == "test_calling_back_is_certain_or_not_done":
        return kind.capabilities.cancel or "cancel" in kind.by_settings
    if test == "test_only_the_vendor_refuses":
        return isinstance(PLAYERS[name], HttpPlayer)
    if test == "test_codes_have_one_meaning":
        return bool(kind.statuses)
    return True
