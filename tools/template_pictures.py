"""Photographs the platform's mails in Chromium: `make pictures`.

Each locale at desktop and telephone width and in the dark goes to `build/pictures`, one sheet for each template to
`docs/images/templates`, and `docs/platform-templates.md` is written anew.
"""

import asyncio
import base64
import html
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.chromium import Page, chromium, find_chromium
from tools.platform_page import PAGE, platform_page
from tools.platform_renders import Render, rendered_set
from tools.small_png import small_png

ROOT: Final = Path(__file__).resolve().parent.parent
SINGLE: Final = ROOT / "build" / "pictures"
SHEETS: Final = ROOT / "docs" / "images" / "templates"
_COLUMN: Final = 340
_GAP: Final = 20


@dataclass(frozen=True, slots=True)
class View:
    """How a mail is looked at."""

    name: str
    width: int
    dark: bool = False


DESKTOP: Final = View("desktop", 640)
PHONE: Final = View("phone", 360)
DARK: Final = View("dark", 360, dark=True)


async def main() -> int:
    """Photograph them all."""
    program = find_chromium()
    if program is None:
        sys.stderr.write("There is no Chromium here; install the package chromium\n")
        return 1
    SINGLE.mkdir(parents=True, exist_ok=True)
    SHEETS.mkdir(parents=True, exist_ok=True)
    renders = await rendered_set()
    mails: dict[str, list[Render]] = defaultdict(list)
    for render in renders:
        if render.message.html is not None:
            mails[f"{render.template.key}.{render.template.channel}"].append(render)
    async with chromium(program) as page:
        for name, each in mails.items():
            sheet = SHEETS / f"{name}.png"
            sheet.write_bytes(small_png(await _sheet(page, name, each)))
            sys.stdout.write(f"{sheet.relative_to(ROOT)}  {sheet.stat().st_size // 1024} KiB\n")
    PAGE.write_text(platform_page(renders), encoding="utf-8")
    return 0


async def _sheet(page: Page, name: str, renders: Sequence[Render]) -> bytes:
    columns = []
    for render in renders:
        shots = {}
        for view in (DESKTOP, PHONE, DARK):
            await page.show(render.message.html or "", width=view.width, dark=view.dark)
            shots[view.name] = await page.picture()
            (SINGLE / f"{name}.{render.locale}.{view.name}.png").write_bytes(shots[view.name])
        columns.append(
            f'<div class="column"><h2>{render.locale}</h2>'
            f'<p dir="{render.message.direction}">{html.escape(render.message.subject or "")}</p>'
            f'<img class="wide" src="{_data(shots["desktop"])}">'
            f'<div class="pair"><img src="{_data(shots["phone"])}"><img src="{_data(shots["dark"])}"></div></div>'
        )
    await page.show(
        f"<!DOCTYPE html><style>{_STYLE}</style><body>{''.join(columns)}</body>",
        width=len(columns) * (_COLUMN + _GAP) + _GAP,
    )
    return await page.picture()


def _data(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


_STYLE: Final = f"""
body {{ margin: 0; padding: {_GAP}px; display: flex; gap: {_GAP}px; align-items: flex-start; background: #cfd6dd;
  font-family: 'Noto Sans', 'Noto Sans Arabic', sans-serif; color: #27313f; box-sizing: border-box; }}
.column {{ width: {_COLUMN}px; }}
h2 {{ margin: 0; font-size: 17px; }}
p {{ margin: 2px 0 10px; font-size: 13px; height: 36px; line-height: 18px; overflow: hidden; }}
img {{ display: block; border-radius: 6px; }}
.wide {{ width: {_COLUMN}px; }}
.pair {{ display: flex; gap: 12px; margin-top: 12px; align-items: flex-start; }}
.pair img {{ width: {(_COLUMN - 12) // 2}px; }}
"""


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
