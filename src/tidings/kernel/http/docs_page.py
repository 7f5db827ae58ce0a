"""The pages under `/docs`: made of one file each, with nothing loaded from anywhere else."""

import base64
import hashlib
import html
import re
from pathlib import Path
from string import Template

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.response import Redirect

from tidings.kernel.http.operations import operation
from tidings.kernel.http.problems import catalogue

_PAGE = Path(__file__).with_name("docs_page.html")
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
_PROBLEMS = Template(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Problems · Tidings</title>
<style>$style</style>
</head>
<body>
<header><h1>Problems</h1><p>What the API answers when it declines, as RFC 9457 has it.
Programs go by <code>code</code>, people by <code>detail</code>. <a href="/docs">Back to the API</a></p></header>
<main>$rows</main>
</body>
</html>
"""
)


def docs_routes() -> list[HTTPRouteHandler]:
    """`/docs`, `/docs/problems`, and `/`, which leads there."""
    page = _PAGE.read_text(encoding="utf-8")
    style = _STYLE.search(page)
    rows = "".join(
        f'<section id="{html.escape(code)}"><h2><code>{html.escape(code)}</code> <small>{status}</small></h2>'
        f"<p>{_explained(title, text)}</p></section>"
        for code, (status, title, text) in catalogue().items()
    )
    problems = _PROBLEMS.substitute(style=style[1] if style else "", rows=rows)

    @get("/docs", **operation(public=True, tag="docs", summary="The API, as a page.", media_type="text/html"))
    async def docs() -> Response[str]:
        return _html(page)

    @get(
        "/docs/problems",
        **operation(
            public=True, tag="docs", summary="Every problem code, as a page.", media_type="text/html"
        ),
    )
    async def docs_problems() -> Response[str]:
        return _html(problems)

    @get(
        "/",
        **operation(public=True, tag="docs", summary="Leads to /docs.", media_type="text/html", status=307),
    )
    async def root() -> Redirect:
        return Redirect("/docs", status_code=307, media_type="text/html")

    return [docs, docs_problems, root]


def _explained(title: str, text: str) -> str:
    """The title in bold, then the sentence, unless it says the same again; `code` between backticks."""
    end = "" if title.endswith(("?", ".")) else "."
    said = "" if text.rstrip(".") == title.rstrip(".") else f" {html.escape(text)}"
    return f"<b>{html.escape(title)}{end}</b>" + re.sub(r"`([^`]+)`", r"<code>\1</code>", said)


def _html(page: str) -> Response[str]:
    headers = {"content-security-policy": _policy(page), "referrer-policy": "no-referrer"}
    return Response(page, media_type="text/html", headers=headers)


def _policy(page: str) -> str:
    """Allow the page's own inline script and style by their hashes, and its own server; nothing else."""
    allowed: dict[str, list[str]] = {"script": [], "style": []}
    for kind, text in _INLINE.findall(page):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        allowed[kind].append(f"'sha256-{digest}'")
    parts = ["default-src 'none'", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]
    parts += [f"{kind}-src {' '.join(hashes)}" for kind, hashes in allowed.items() if hashes]
    return "; ".join(parts)
