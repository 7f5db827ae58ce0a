"""Every problem code that the API can answer with is in `docs/api.md`, and none that it can't."""

import re
from collections.abc import Iterator
from pathlib import Path

import tidings.bootstrap.surface
import tidings.kernel.token_keys  # noqa: F401
from tidings.contracts.scope_names import SCOPES
from tidings.kernel.errors import TidingsError
from tidings.kernel.http.problems import catalogue

DOCS = Path(__file__).parents[2] / "docs" / "api.md"
_ROW = re.compile(r"^\| (\d{3}) \| `(\w+)` \|", re.MULTILINE)


def kinds() -> Iterator[type[TidingsError]]:
    """Every kind of error."""
    pending = [TidingsError]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        yield kind


def codes_of_the_edge() -> dict[str, int]:
    """The codes of errors that are defined where HTTP answers come from."""
    found = {"internal": 500}
    for kind in kinds():
        here = kind.__module__.startswith(
            (
                "tidings.kernel.errors",
                "tidings.kernel.refusals",
                "tidings.kernel.http",
                "tidings.kernel.token_keys",
                "tidings.notify",
                "tidings.router",
            )
        )
        if here and kind.code in catalogue():
            found[kind.code] = catalogue()[kind.code][0]
    found.pop("refused", None)
    return found


def test_every_code_is_documented_with_its_status() -> None:
    documented = {code: int(status) for status, code in _ROW.findall(DOCS.read_text(encoding="utf-8"))}

    assert documented == codes_of_the_edge()


def test_every_error_says_a_whole_sentence() -> None:
    """The first line of its docstring is what people read."""
    said = {kind.__name__: (kind.__doc__ or ".").splitlines()[0] for kind in kinds()}

    assert {name: line for name, line in said.items() if not line.endswith((".", "?"))} == {}


def test_every_scope_is_listed() -> None:
    [listed] = [line for line in DOCS.read_text().splitlines() if line.startswith("The resources are")]

    assert set(re.findall(r"`(\w+)`", listed)) == {scope.partition(":")[0] for scope in SCOPES}
