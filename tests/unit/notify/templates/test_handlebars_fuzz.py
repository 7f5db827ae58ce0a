"""Templates by chance print what handlebars.js prints, through the validator. TIDINGS_FUZZ_TEMPLATES makes more of them."""

import os
import re
from collections.abc import Sequence

from tests.support.handlebars_cases import DATA
from tests.support.handlebars_fuzz import Made, fuzzed
from tests.support.handlebars_node import Asked, handlebars_js, needs_node
from tests.support.rendering import Rendering, compiled_content
from tests.support.versions import draft_version, validated
from tidings.notify.render.model import Rendered
from tidings.notify.templates.model import BodyFormat, Source

_MANY = int(os.environ.get("TIDINGS_FUZZ_TEMPLATES", "300"))
_FIRST = int(os.environ.get("TIDINGS_FUZZ_SEED", "1"))


#: So many are checked as one text: the validator takes as long for one as for many.
_TOGETHER = 50
_BETWEEN = re.compile("«([^«»]*)»")


def _ours(rendering: Rendering, made: Sequence[Made]) -> list[str]:
    """What each prints; one that is refused is found by itself."""
    source = Source(format=BodyFormat.TEXT, body="".join(one.source for one in made), subject="s")
    partials = {name: text for one in made for name, text in one.partials.items()}
    report = validated(rendering, draft_version({"en": source}, samples={"all": DATA}, partials=partials))
    if report.errors and len(made) > 1:
        return [text for one in made for text in _ours(rendering, [one])]
    if report.errors:
        return [f"refused: {report.errors[0].what}"]
    compiled = report.locales["en"].compiled
    assert compiled is not None
    done = rendering.job(compiled_content(compiled, "en"), DATA)
    assert isinstance(done, Rendered), done
    return _BETWEEN.findall(done.text or "")


@needs_node
def test_templates_by_chance_print_what_handlebars_prints(rendering: Rendering) -> None:
    made = [fuzzed(seed) for seed in range(_FIRST, _FIRST + _MANY)]
    wanted = handlebars_js([Asked(source=one.source, data=DATA, partials=one.partials) for one in made])
    taken = [(one, text) for one, text in zip(made, wanted, strict=True) if text is not None]
    shown = [
        text
        for start in range(0, len(taken), _TOGETHER)
        for text in _ours(rendering, [one for one, _ in taken[start : start + _TOGETHER]])
    ]

    different = [
        (one, text, ours) for (one, text), ours in zip(taken, shown, strict=True) if text != f"«{ours}»"
    ]
    assert different == []
    assert len(taken) > 0.9 * len(made)
