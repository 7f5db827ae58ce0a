"""The JSON Schema of every event, a file for each subject; written by `make docs` from the types beside this folder."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent


@cache
def event_schemas() -> dict[str, dict[str, Any]]:
    """The schemas of the data of all events, by their subjects."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(FOLDER.glob("*.json"))}
