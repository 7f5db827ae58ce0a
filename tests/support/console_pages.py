"""All pages of the console, found as somebody finds them: by links and by forms that ask for something."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import urldefrag, urlencode, urlsplit

import httpx2

from tests.support.running import run_tidings
from tidings.backoffice.console.areas import AREAS
from tidings.backoffice.console.places import PLACES

#: What is no page that somebody of a tenant looks at while they work, and why.
NO_PAGES: Final[Mapping[str, str]] = {
    r"/console/static/\{name\}": "style and script",
    r".*/(frame|notifications/\{notification_id\}/body)": "what a frame shows",
    r"/console/templates/export": "a file",
    r"/console/alerts/count": "a number in the navigation",
    r"/console/(sign-in|oidc|oidc/callback|join/\{token\}|open/\{token\})": "for who is not signed in",
    r"/console(/locks)?/find": "leads on to what was found",
    r"/console/acting-for": "for the platform's people",
    **{f"{place.path}(/.*)?": "for the platform's people" for place in PLACES if place.of_platform},
}
#: Pages of things that the demo has none of.
NOT_IN_THE_DEMO: Final[Mapping[str, str]] = {
    r"/console/alerts/\{alert_id\}": "nothing is wrong",
    r"/console/locks/\{property_id\}/\{reservation\}": "asked for by the number of a reservation",
    r"/console/devices/\{device_id\}": "no application of an operator has been there",
}
#: A draft has other links than a batch that was sent: so many of each kind are looked through for more pages.
_MOST_EXAMPLES: Final = 5


@contextmanager
def signed_in(data_dir: Path) -> Iterator[httpx2.Client]:
    """A client with the session of the demo's operator."""
    made = run_tidings("operator", "link", "--json", "--data-dir", str(data_dir))
    parts = urlsplit(json.loads(made.stdout)["console_url"])
    with httpx2.Client(base_url=f"{parts.scheme}://{parts.netloc}", timeout=30) as client:
        opened = client.post(parts.path, headers={"sec-fetch-site": "same-origin"})
        assert opened.status_code == 303, opened.text
        yield client


def find_pages(client: httpx2.Client) -> tuple[Mapping[str, str], list[str]]:
    """An address for each page there is, by its pattern, found by following links from the navigation; and pages that nothing leads to."""
    wanted = {
        operation.path: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(operation.path)))
        for area in AREAS
        for operation in area.operations
        if operation.method == "GET" and not _is_among(operation.path, NO_PAGES)
    }
    found = {place.path: place.path for place in PLACES if not place.of_platform}
    examples = defaultdict[str, set[str]](set)
    ask = list(found.values())
    while ask:
        path = ask.pop(0)
        answer = client.get(path, follow_redirects=True)
        assert answer.status_code == 200, f"a link leads to {path}, which answers {answer.status_code}"
        for href in _links(answer.text):
            page = urldefrag(href).url
            pattern = _shape(urlsplit(page).path, wanted)
            if pattern is None or page in examples[pattern] or len(examples[pattern]) == _MOST_EXAMPLES:
                continue
            examples[pattern].add(page)
            found.setdefault(pattern, page)
            ask.append(page)
    missing = [path for path in wanted if path not in found and not _is_among(path, NOT_IN_THE_DEMO)]
    return found, missing


def _shape(path: str, wanted: Mapping[str, re.Pattern[str]]) -> str | None:
    """Which page it is; one without a placeholder goes before one with."""
    fitting = [name for name, pattern in wanted.items() if pattern.fullmatch(path)]
    return min(fitting, key=lambda name: name.count("{"), default=None)


def _is_among(path: str, patterns: Iterable[str]) -> bool:
    return any(re.fullmatch(pattern, path) for pattern in patterns)


def _links(html: str) -> list[str]:
    reader = _Links()
    reader.feed(html)
    return [one for one in reader.found if one.startswith("/console/")]


class _Links(HTMLParser):
    """Links and forms of the main part of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_main = False
        #: The form that we are in: where it leads, and what it says.
        self._form: tuple[str, dict[str, str]] | None = None
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "main":
            self._is_main = True
        elif not self._is_main:
            return
        elif tag == "a":
            self.found.append(given.get("href", ""))
        elif tag == "form" and given.get("method", "get") != "post":
            self._form = given.get("action", ""), {}
        elif tag == "input" and self._form is not None and "name" in given:
            self._form[1][given["name"]] = given.get("value", "")
        elif tag == "select":
            self._select = given.get("name", "")
        elif tag == "option" and self._form is not None and self._select:
            chosen = self._form[1]
            if "selected" in given or self._select not in chosen:
                chosen[self._select] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "main":
            self._is_main = False
        elif tag == "form" and self._form is not None:
            action, fields = self._form
            self.found.append(f"{action}?{urlencode(fields)}")
            self._form = None
        elif tag == "select":
            self._select = ""
