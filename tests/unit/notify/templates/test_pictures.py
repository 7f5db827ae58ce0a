"""A picture is what its bytes say, from the first to the last."""

import pytest

from tests.support.pictures import GIF, JPEG, SVG, WEBP, chunk, png
from tidings.kernel.refusals import InvalidError
from tidings.notify.templates.assets import (
    MOST,
    MOST_BYTES,
    Asset,
    checked,
    cid_of,
    crowd_fault,
    shown_in,
    with_cids,
    with_data,
)
from tidings.notify.templates.image_types import media_type_of
from tidings.notify.templates.model import AssetFacts


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (png(), "image/png"),
        (png(10_000), "image/png"),
        (GIF, "image/gif"),
        (GIF.replace(b"89a", b"87a"), "image/gif"),
        (JPEG, "image/jpeg"),
        (WEBP, "image/webp"),
    ],
)
def test_pictures_are_known_by_their_content(content: bytes, media_type: str) -> None:
    assert media_type_of(content) == media_type


HOSTILE = {
    "nothing": b"",
    "text": b"hello",
    "svg": SVG,
    "a page": b"<!DOCTYPE html><script>alert(1)</script>",
    "png magic alone": b"\x89PNG\r\n\x1a\n",
    "png magic with svg": b"\x89PNG\r\n\x1a\n" + SVG,
    "svg behind a png": png() + SVG,
    "a comment chunk with a script": png()[:33] + chunk(b"tEXt", b"a\0<ScRiPt >alert(1)") + png()[33:],
    "bytes behind a png": png() + b"PK\x03\x04",
    "a png with a wrong sum": png()[:-1] + b"\x00",
    "a huge png": png(width=60_000, height=60_000),
    "an empty png": png(width=0),
    "gif magic as a script": b"GIF89a/*" + SVG + b"*/;",
    "bytes behind a gif": GIF + b"<x>",
    "a gif cut off": GIF[:-1],
    "a gif without a picture": GIF[:19] + b"\x3b",
    "jpeg magic alone": b"\xff\xd8\xff",
    "a jpeg cut off": JPEG[:-2],
    "a jpeg without a frame": JPEG[:20] + JPEG[33:],
    "bytes behind a jpeg": JPEG + b"x",
    "webp with a wrong length": WEBP + b"xx",
    "a wave": WEBP.replace(b"WEBP", b"WAVE"),
    "a bitmap": b"BM" + bytes(60),
    "a pdf": b"%PDF-1.7\n",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_everything_else_is_none(content: bytes) -> None:
    assert media_type_of(content) is None
    with pytest.raises(InvalidError):
        checked("logo.png", content)


@pytest.mark.parametrize("cut", range(0, len(GIF), 3))
def test_a_beginning_is_no_picture(cut: int) -> None:
    for whole in (GIF, JPEG, WEBP, png()):
        assert media_type_of(whole[: min(cut, len(whole) - 1)]) is None


@pytest.mark.parametrize("name", ["", "Logo.png", "a b.png", "../x.png", "x" * 81, "..", ".", "é.png", "a\n"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(InvalidError, match="lower-case"):
        checked(name, GIF)


def test_how_much_is_too_much() -> None:
    with pytest.raises(InvalidError, match=str(MOST_BYTES)):
        checked("a.png", png(MOST_BYTES))
    facts = AssetFacts(media_type="image/png", size=MOST_BYTES, sha256="0" * 64)
    assert crowd_fault({str(n): facts for n in range(4)}) is None
    assert "bytes of pictures" in (crowd_fault({str(n): facts for n in range(5)}) or "")
    small = AssetFacts(media_type="image/png", size=1, sha256="0" * 64)
    assert crowd_fault({str(n): small for n in range(MOST)}) is None
    assert "more than 20" in (crowd_fault({str(n): small for n in range(MOST + 1)}) or "")


def test_html_names_pictures_by_their_content_ids() -> None:
    logo, other = Asset("logo.png", png()), Asset("a.gif", GIF)
    assets = {logo.name: logo.facts, other.name: other.facts}
    html = """<img src="cid:logo.png"><td background='cid:logo.png'><p style="x:url(&quot;cid:a.gif&quot;)">
        <img src="cid:logo.png.old"><img src="cid:mine@order"> cid:logo.png"""
    cid = cid_of("logo.png", logo.facts)
    made = with_cids(html, assets)

    assert made.count(f"cid:{cid}") == 2
    assert "cid:logo.png.old" in made
    assert "cid:mine@order" in made
    assert made.endswith(" cid:logo.png"), "words stay as they are"
    assert shown_in(made, assets) == ["logo.png", "a.gif"]
    assert shown_in(made.replace(cid, "x"), assets) == ["a.gif"]
    assert shown_in(None, assets) == []
    assert 'src="data:image/png;base64,' in with_data(made, [logo, other])
    assert cid not in with_data(made, [logo, other])
