"""The page about the simulation says what is checked."""

from pathlib import Path

from tests.simulation.invariants import INVARIANTS

PAGE = Path("docs/simulation.md")


def test_every_sentence_is_on_its_page() -> None:
    lines = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    sentences = {cells[2].strip() for cells in lines if cells[2].strip().endswith(".")}

    assert sentences == {sentence for sentence, _ in INVARIANTS}
