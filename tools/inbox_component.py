"""Writes the translated texts into the scripts of the in-app inbox: `make docs`; with `--check` it compares, and weighs them.

Each script runs as it stands, so the texts have to be in it; translators work on the gettext catalogues beside it.
"""

import argparse
import gzip
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tidings.kernel.translations import read_catalogues
from tidings.notify import inbox_component, preference_center

ROOT: Final = Path(__file__).resolve().parent.parent
_FOLDER: Final = ROOT / "src/tidings/notify/inbox_component/component"
_TEXTS = re.compile(r"(/\* texts:begin[^\n]*\*/\n).*?(/\* texts:end \*/\n)", re.DOTALL)
#: Browsers say these themselves in every language of ours but this one.
_OWN_TIMES: Final = frozenset({"now", "minutes_ago", "hours_ago", "days_ago"})
_WITHOUT_TIMES: Final = "ps"
#: What the preferences say with the words of the preference pages, and with those of the list.
_OF_PAGES: Final = frozenset({"choices_title", "consent_note", "always_note", "all_off", "saved"})
_OF_THE_LIST: Final = frozenset({"loading"})
#: Keys of the preferences alone.
_PREFERENCES: Final = "preferences."
#: Language → key → text.
Texts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script that pages load."""

    path: Path
    #: What a page pays for it, as it travels.
    most_bytes: int
    texts: Callable[[], Texts]

    def read(self) -> str:
        """As it stands."""
        return self.path.read_text(encoding="utf-8")

    def with_texts(self, script: str) -> str:
        """The script with the texts of the catalogues."""
        said = self.texts()
        rows = {key: [words.get(key, "") for words in said.values()] for key in said[_WITHOUT_TIMES]}
        table = "".join(f"  {json.dumps(key)}: {_compact(row)},\n" for key, row in rows.items())
        made = f"const LANGUAGES = {_compact(list(said))};\nconst TEXTS = {{\n{table}}};\n"
        written, places = _TEXTS.subn(lambda found: f"{found[1]}{made}{found[2]}", script)
        if places != 1:
            raise SystemExit(
                f"{self.path} must have one place for its texts, between texts:begin and texts:end"
            )
        return written


def weight(script: str) -> int:
    """How many bytes it takes on the wire."""
    return len(gzip.compress(script.encode(), 9))


def _compact(words: list[str]) -> str:
    return json.dumps(words, ensure_ascii=False, separators=(",", ":"))


def _texts_of_the_inbox() -> Texts:
    """Categories are called as on the preference pages."""
    own = read_catalogues(inbox_component.__name__)
    pages = read_catalogues(preference_center.__name__)
    return {
        code: {
            key: text
            for key, text in catalogue.texts.items()
            if (key not in _OWN_TIMES or code == _WITHOUT_TIMES) and not key.startswith(_PREFERENCES)
        }
        | {key: text for key, text in pages[code].texts.items() if key.startswith("category.")}
        for code, catalogue in own.items()
    }


def _texts_of_the_preferences() -> Texts:
    """Channels are called as on the preference pages; categories are asked of the inbox, which loads this."""
    own = read_catalogues(inbox_component.__name__)
    pages = read_catalogues(preference_center.__name__)
    return {
        code: {
            key: text
            for key, text in catalogue.texts.items()
            if key in _OF_THE_LIST or key.startswith(_PREFERENCES)
        }
        | {
            key: text
            for key, text in pages[code].texts.items()
            if key in _OF_PAGES or (key.startswith("channel.") and key != "channel.webhook")
        }
        for code, catalogue in own.items()
    }


INBOX: Final = Script(path=_FOLDER / "tidings-inbox.js", most_bytes=20_000, texts=_texts_of_the_inbox)
PREFERENCES: Final = Script(
    path=_FOLDER / "tidings-inbox-preferences.js", most_bytes=8_000, texts=_texts_of_the_preferences
)
SCRIPTS: Final = (INBOX, PREFERENCES)


def main() -> int:
    """Write the texts, or say what is stale or too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail where one is stale or too large"
    )
    only_check = parser.parse_args().check
    faults = [fault for script in SCRIPTS for fault in _faults(script, only_check=only_check)]
    sys.stderr.writelines(f"{fault}\n" for fault in faults)
    return 1 if faults else 0


def _faults(script: Script, *, only_check: bool) -> list[str]:
    there = script.read()
    wanted = script.with_texts(there)
    if not only_check:
        script.path.write_text(wanted, encoding="utf-8")
        return []
    name, size, faults = script.path.relative_to(ROOT), weight(there), []
    if there != wanted:
        faults.append(f"{name} has other texts than the catalogues; run `make docs`")
    sys.stdout.write(f"{name.name}: {size:,} bytes as gzip, of {script.most_bytes:,} at most\n")
    if size > script.most_bytes:
        faults.append(f"{name} has grown too large for the pages that load it")
    return faults


if __name__ == "__main__":
    sys.exit(main())
