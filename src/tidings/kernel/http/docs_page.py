"""The pages under `/docs`: made of one file each, with nothing loaded from anywhere else."""

import base64
import hashlib
import html
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import msgspec

from tidings.kernel.http.answers import Reply
from tidings.kernel.http.problems import catalogue
from tidings.kernel.http.resources import Owner, Resource

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


def docs_resource(
    describe: Callable[[], Mapping[str, Any]], describe_events: Callable[[], Mapping[str, Any]]
) -> Resource:
    """`/docs`, `/docs/problems`, `/`, which leads there, and the documents that describe the API and the events."""
    page = _PAGE.read_text(encoding="utf-8")
    pages = Resource("docs", at="", tag="docs", owner=Owner.PUBLIC)

    # Written when it is first asked for: a start should not wait for it.
    @cache
    def problems() -> str:
        return _problems_page(page)

    @pages.get("/docs", media_type="text/html")
    async def docs() -> Reply:
        """The API, as a page."""
        return _html(page)

    @pages.get("/docs/problems", media_type="text/html")
    async def docs_problems() -> Reply:
        """Every problem code, as a page."""
        return _html(problems())

    @pages.get("/", media_type="text/html", status=307)
    async def root() -> Reply:
        """Leads to /docs."""
        return Reply(media_type="text/html", headers={"location": "/docs"})

    @pages.get("/openapi.json")
    async def openapi_json() -> Reply:
        """The API, as OpenAPI 3.1."""
        return Reply(body=msgspec.json.encode(describe()))

    @pages.get("/asyncapi.json")
    async def asyncapi_json() -> Reply:
        """The events, as AsyncAPI 3.0."""
        return Reply(body=msgspec.json.encode(describe_events()))

    return pages


def _problems_page(page: str) -> str:
    """Every problem in the style of that page."""
    style = _STYLE.search(page)
    rows = "".join(
        f'<section id="{html.escape(code)}"><h2><code>{html.escape(code)}</code> <small>{status}</small></h2>'
        f"<p>{_explained(title, text)}</p></section>"
        for code, (status, title, text) in catalogue().items()
    )
    return _PROBLEMS.substitute(style=style[1] if style else "", rows=rows)


def backoffice_docs_resource(describe: Callable[[], Mapping[str, Any]]) -> Resource:
    """The document that describes what the web console calls."""
    pages = Resource("backoffice-docs", at="/bff/v1", tag="docs", owner=Owner.PUBLIC, of_backoffice=True)

    @pages.get("/openapi.json")
    async def backoffice_openapi_json() -> Reply:
        """The back office's API, as OpenAPI 3.1."""
        return Reply(body=msgspec.json.encode(describe()))

    return pages


def _explained(title: str, text: str) -> str:
    """The title in bold, then the sentence, unless it says the same again; `code` between backticks."""
    end = "" if title.endswith(("?", ".")) else "."
    said = "" if text.rstrip(".") == title.rstrip(".") else f" {html.escape(text)}"
    return f"<b>{html.escape(title)}{end}</b>" + re.sub(r"`([^`]+)`", r"<code>\1</code>", said)


def _html(page: str) -> Reply:
    headers = {"content-security-policy": _policy(page), "referrer-policy": "no-referrer"}
    return Reply.page(page, headers=headers)


def _policy(page: str) -> str:
    """Allow the page's own inline script and style by their hashes, and its own server; nothing else."""
    allowed: dict[str, list[str]] = {"script": [], "style": []}
    for kind, text in _INLINE.findall(page):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        allowed[kind].append(f"'sha256-{digest}'")
    parts = ["default-src 'none'", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]
    parts += [f"{kind}-src {' '.join(hashes)}" for kind, hashes in allowed.items() if hashes]
    return "; ".join(parts)
