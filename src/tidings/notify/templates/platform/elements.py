"""The look that the platform's templates share: `<t-button to="…">words</t-button>` is `shared/button.mjml`."""

import re
from functools import cache
from pathlib import Path
from typing import Final

SHARED: Final = Path(__file__).parent / "shared"
_ELEMENT: Final = re.compile(
    r'<t-(?P<name>[a-z_]+)(?P<given>(?:\s+[a-z_]+="[^"]*")*)\s*(?:/>|>(?P<inside>.*?)</t-(?P=name)>)',
    re.DOTALL,
)
_GIVEN: Final = re.compile(r'([a-z_]+)="([^"]*)"')


def expanded(layout: str) -> str:
    """The layout with every element of ours written out; `[[inside]]` and the attributes are filled in."""
    while _ELEMENT.search(layout):
        layout = _ELEMENT.sub(_written_out, layout)
    return layout


def _written_out(element: re.Match[str]) -> str:
    given = dict(_GIVEN.findall(element["given"]))
    text = _fragment(element["name"])
    for name, value in {**given, "inside": (element["inside"] or "").strip()}.items():
        text = text.replace(f"[[{name}]]", value)
    return text


@cache
def _fragment(name: str) -> str:
    file = next(SHARED.glob(f"{name}.*"), None)
    if file is None:
        raise LookupError(f"<t-{name}> is no file in {SHARED}")
    return file.read_text(encoding="utf-8").strip()
