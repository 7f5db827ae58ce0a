"""MJML looks as npm's MJML makes it look: the same templates, compiled by both, photographed side by side."""

import base64
import html
import json

from tools.chromium import Page, chromium

from tests.support.browser import chromium_or_skip
from tests.support.npm_mjml.running import NpmMjml, needs_npm_mjml, templates
from tests.support.pictures import gradient
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.model import BodyFormat, LinkPolicy, Source

#: Share of pixels; letters may be drawn a shade apart.
_MOST_DIFFERENT = 0.002
#: Each pair of frames gets the height of the higher one.
_FRAMES_FIT = """
Promise.all([...document.querySelectorAll('iframe')].map(frame => new Promise(done => {
  if (frame.contentDocument.readyState === 'complete') done(); else frame.onload = done
}))).then(() => Promise.all([...document.querySelectorAll('iframe')].flatMap(
  frame => [...frame.contentDocument.images].map(image => image.decode())
))).then(() => [...document.querySelectorAll('p')].map(pair => {
  const frames = [...pair.children]
  const heights = frames.map(frame => Math.ceil(frame.contentDocument.body.getBoundingClientRect().height))
  for (const frame of frames) frame.style.height = `${Math.max(...heights)}px`
  return Math.max(...heights)
}))
"""
#: The share of pixels in which the halves of a picture differ, for each strip of it.
_DIFFERENT = """
(async (source, heights) => {
  const image = new Image()
  image.src = source
  await image.decode()
  const canvas = Object.assign(document.createElement('canvas'), {width: image.width, height: image.height})
  const pen = canvas.getContext('2d')
  pen.drawImage(image, 0, 0)
  const half = image.width / 2
  let top = 0
  return heights.map(height => {
    const [left, right] = [0, half].map(x => pen.getImageData(x, top, half, height).data)
    top += height
    let different = 0
    for (let i = 0; i < left.length; i += 4) {
      const apart = [0, 1, 2].reduce((sum, c) => sum + Math.abs(left[i + c] - right[i + c]), 0)
      different += apart > 48
    }
    return different / (half * height)
  })
})
"""


def side_by_side(pairs: list[tuple[str, str]], width: int) -> str:
    """A page with both mails of each pair beside each other."""
    picture = f"data:image/png;base64,{base64.b64encode(gradient(64)).decode()}"
    frames = "".join(
        "<p>"
        + "".join(
            f'<iframe srcdoc="{html.escape(mail.replace("cid:square.png", picture))}"></iframe>'
            for mail in pair
        )
        + "</p>"
        for pair in pairs
    )
    style = f"body,p{{margin:0;font-size:0}} iframe{{border:0;width:{width}px;height:100px}}"
    return f"<!DOCTYPE html><style>{style}</style>{frames}"


async def shares(page: Page, pairs: list[tuple[str, str]], width: int) -> list[float]:
    """How much each pair differs."""
    await page.show(side_by_side(pairs, width), width=2 * width)
    heights = await page.evaluate(_FRAMES_FIT)
    picture = base64.b64encode(await page.picture()).decode()
    found: list[float] = await page.evaluate(
        f"{_DIFFERENT}({json.dumps(f'data:image/png;base64,{picture}')}, {json.dumps(heights)})"
    )
    return found


@needs_npm_mjml
async def test_mails_look_as_mjml_makes_them_look() -> None:
    program = chromium_or_skip("our mails beside MJML's")
    npm = NpmMjml()
    ours = {
        name: compile_source(
            Source(format=BodyFormat.MJML, body=text, subject="s"), locale="en", links=LinkPolicy()
        ).html
        or ""
        for name, text in templates().items()
    }
    pairs = [(ours[name], npm.html(text)) for name, text in templates().items()]
    npm.close()
    shifted = ours["columns"].replace("padding:20px 0", "padding:21px 0")

    async with chromium(program) as page:
        for width in (700, 390):
            found = dict(zip(ours, await shares(page, pairs, width), strict=True))
            assert {name: share for name, share in found.items() if share > _MOST_DIFFERENT} == {}, width
        [noticed] = await shares(page, [(shifted, ours["columns"])], 390)

    assert noticed > _MOST_DIFFERENT
