"""Runs npm's MJML, and reads the templates that both compile."""

import json
from pathlib import Path
from typing import Any

import pytest
from py_mini_racer import MiniRacer

HERE = Path(__file__).parent
_PROGRAM = HERE / "node_modules" / "mjml-browser" / "lib" / "index.js"
#: What it looks for in a browser.
_BROWSER = (
    "var window = globalThis, self = globalThis, module = {exports: {}}, exports = module.exports, "
    "console = {log() {}, warn() {}, error() {}};"
)
_OURS = """
var mjml = module.exports.default || module.exports;
function compiled(text) { return JSON.stringify(mjml(text, {fonts: {}, validationLevel: 'skip'}).html) }
function faults(text) {
  try { mjml(text, {fonts: {}, validationLevel: 'strict'}); return '[]' }
  catch (error) {
    if (!error.errors) throw error
    return JSON.stringify(error.errors.map(each => [each.tagName, each.message]))
  }
}
0
"""

needs_npm_mjml = pytest.mark.skipif(
    not _PROGRAM.exists(),
    reason="NOT COMPARED WITH MJML: needs the npm package mjml-browser (make test fetches it; by hand: "
    "python tools/fetch_assets.py --dev)",
)


class NpmMjml:
    """MJML as npm has it."""

    def __init__(self) -> None:
        self._racer = MiniRacer()
        self._racer.eval(f"{_BROWSER}{_PROGRAM.read_text(encoding='utf-8')}\n{_OURS}")

    def html(self, document: str) -> str:
        """What it makes of a document."""
        return str(self._call("compiled", document))

    def faults(self, document: str) -> list[tuple[str, str]]:
        """What it says of a document, each with the element."""
        return [(tag, message) for tag, message in self._call("faults", document)]

    def close(self) -> None:
        self._racer.close()

    def _call(self, function: str, document: str) -> Any:
        return json.loads(str(self._racer.eval(f"{function}({json.dumps(document)})")))


def templates() -> dict[str, str]:
    """Our own, which have every component in them."""
    return {
        file.stem: file.read_text(encoding="utf-8") for file in sorted((HERE / "templates").glob("*.mjml"))
    }
