"""The docs say what the code does."""

import re
from pathlib import Path

import pytest

from tests.support.generated_docs import DOCS, PAGES, all_metrics

ROOT = DOCS.parent


@pytest.mark.parametrize("name", sorted(PAGES))
def test_generated_pages_are_up_to_date(name: str) -> None:
    """Run `make docs` when this fails."""
    assert (DOCS / name).read_text() == PAGES[name]()


def test_alert_rules_speak_of_metrics_that_exist() -> None:
    """A renamed metric must not silence an alarm."""
    known = {family.name for family in all_metrics().registry.collect()}
    rules = (ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text()

    named = {re.sub(r"_(total|bucket|count|sum)$", "", name) for name in re.findall(r"\btidings_\w+", rules)}

    assert named
    assert named <= known


def pages() -> list[Path]:
    """Everything that people read."""
    return [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "src").rglob("*.md")]


_LINK = re.compile(r"\]\(([^)\s]+)")
_FENCE = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, made as GitHub makes them."""
    headings = [heading.strip().lower() for heading in _HEADING.findall(_FENCE.sub("", page.read_text()))]
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link in a page names a file that is there, and its anchor a heading of that file."""
    broken = []
    for link in _LINK.findall(page.read_text()):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)

    assert broken == []


def test_source_files_named_in_pages_are_there() -> None:
    """A file that moved is named by its new path; `acme` and `NNNN` stand for names that a reader chooses."""
    files = [
        f"/{path.relative_to(ROOT)}"
        for folder in ("src", "client", "tests", "tools", "bench")
        for path in (ROOT / folder).rglob("*.*")
    ]
    gone = [
        (page.name, named)
        for page in pages()
        if page.name != "CHANGELOG.md"
        for named in re.findall(r"`([\w./-]+\.(?:py|sql))`", page.read_text())
        if not re.search("acme|NNNN", named) and not any(file.endswith(f"/{named}") for file in files)
    ]

    assert gone == []


def test_every_decision_record_has_its_parts() -> None:
    """Context, choice, what was given up, security: one page each."""
    for record in sorted((DOCS / "adr").glob("0*.md")):
        text = record.read_text().lower()
        for part in ("context", "choice", "gave up", "security"):
            assert part in text, f"{record.name} lacks {part}"


def test_every_make_target_says_what_it_is_for() -> None:
    """`make help` lists itself from these."""
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    explained = set(re.findall(r"^([a-z][a-z-]*):.*## ", makefile, re.MULTILINE))

    assert targets == explained


def test_no_lock_or_constraints_file_names_a_host() -> None:
    """Pins are names and versions; where they come from is the reader's affair."""
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert re.fullmatch(r"[a-z0-9._-]+==[^\s;]+( ; .+)?", line), line
