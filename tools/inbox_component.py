"""Writes the translated texts into `tidings-inbox.js`: `make docs`; with `--check` it compares, and weighs the script.

The component is one file that runs as it stands, so the texts have to be in it; translators work on the gettext
catalogues beside it.
"""

import argparse
import gzip
import json
import re
import sys
from pathlib import Path
from typing import Final

from tidings.kernel.translations import read_catalogues
from tidings.notify import inbox_component, preference_center

ROOT: Final = Path(__file__).resolve().parent.parent
SCRIPT: Final = ROOT / "src/tidings/notify/inbox_component/component/tidings-inbox.js"
#: What a page pays for the bell, as it travels.
MOST_BYTES: Final = 20_000
_TEXTS = re.compile(r"(/\* texts:begin[^\n]*\*/\n).*?(/\* texts:end \*/\n)", re.DOTALL)
#: Browsers say these themselves in every language of ours but this one.
_OWN_TIMES: Final = frozenset({"now", "minutes_ago", "hours_ago", "days_ago"})
_WITHOUT_TIMES: Final = "ps"


def main() -> int:
    """Write the texts, or say what is stale or too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail where it is stale or too large"
    )
    there = SCRIPT.read_text(encoding="utf-8")
    wanted = with_texts(there)
    if not parser.parse_args().check:
        SCRIPT.write_text(wanted, encoding="utf-8")
        return 0
    faults = []
    if there != wanted:
        faults.append(f"{SCRIPT.relative_to(ROOT)} has other texts than the catalogues; run `make docs`")
    size = weight(there)
    sys.stdout.write(f"tidings-inbox.js: {size:,} bytes as gzip, of {MOST_BYTES:,} at most\n")
    if size > MOST_BYTES:
        faults.append(f"{SCRIPT.relative_to(ROOT)} has grown too large for the pages that load it")
    sys.stderr.writelines(f"{fault}\n" for fault in faults)
    return 1 if faults else 0


def weight(script: str) -> int:
    """How many bytes it takes on the wire."""
    return len(gzip.compress(script.encode(), 9))


def with_texts(script: str) -> str:
    """The script with the texts of the catalogues."""
    said = texts()
    rows = {key: [words.get(key, "") for words in said.values()] for key in said[_WITHOUT_TIMES]}
    table = "".join(f"  {json.dumps(key)}: {_compact(row)},\n" for key, row in rows.items())
    made = f"const LANGUAGES = {_compact(list(said))};\nconst TEXTS = {{\n{table}}};\n"
    written, places = _TEXTS.subn(lambda found: f"{found[1]}{made}{found[2]}", script)
    if places != 1:
        raise SystemExit(f"{SCRIPT} must have one place for its texts, between texts:begin and texts:end")
    return written


def _compact(words: list[str]) -> str:
    return json.dumps(words, ensure_ascii=False, separators=(",", ":"))


def texts() -> dict[str, dict[str, str]]:
    """Language → key → text; categories are called as on the preference page."""
    own = read_catalogues(inbox_component.__name__)
    pages = read_catalogues(preference_center.__name__)
    return {
        code: {
            key: text
            for key, text in catalogue.texts.items()
            if key not in _OWN_TIMES or code == _WITHOUT_TIMES
        }
        | {key: text for key, text in pages[code].texts.items() if key.startswith("category.")}
        for code, catalogue in own.items()
    }


if __name__ == "__main__":
    sys.exit(main())
