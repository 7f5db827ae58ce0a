"""A hostile template fails by itself; the isolate and the other messages live on."""

import msgspec
import pytest

from tests.support.rendering import Rendering, content
from tidings.notify.render.isolate import Isolate, program
from tidings.notify.render.model import Rendered, RenderFailed, RenderJob, RenderLimits

LIST = {"l": list(range(60))}


def alive(rendering: Rendering) -> bool:
    return rendering.text("{{name}}", {"name": "Laila"}) == "Laila"


def nested_loops(depth: int) -> str:
    return "".join(f"{{{{#each {'../' * n}l}}}}" for n in range(depth)) + "x" + "{{/each}}" * depth


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (nested_loops(4), "too_many_steps"),
        ('{{#*inline "a"}}{{> a}}{{/inline}}{{> a}}', "too_deep"),
        ('{{#*inline "a"}}{{#each @root.l}}{{> a}}{{/each}}{{/inline}}{{> a}}', "too_deep"),
        ("{{> elsewhere}}", "template_broken"),
        # Each of these is cheap by itself, and none of them is a loop: they count all the same.
        ("{{#each l}}" + "{{#if a}}{{/if}}" * 2000 + "{{/each}}", "too_many_steps"),
        ("{{#each l}}" + "{{a}}" * 4000 + "{{/each}}", "too_many_steps"),
        ("{{#each l}}" + "{{number this}}" * 400 + "{{/each}}", "too_many_steps"),
        ("{{#each l}}" + "{{#unless a}}{{/unless}}" * 2000 + "{{/each}}", "too_many_steps"),
        ("{{#each l}}" + "x" * 100_000 + "{{/each}}", "too_large"),
        ("{{#if l}}" * 400 + "{{/if}}", "template_broken"),
        ("{{unknown l}}", "template_broken"),
        ("{{#tidings_href}}javascript:alert(1){{/tidings_href}}", "link_not_allowed"),
    ],
)
def test_what_runs_away_is_stopped(rendering: Rendering, source: str, code: str) -> None:
    assert rendering.refused(source, LIST).code == code
    assert alive(rendering)


def test_deep_nesting_is_stopped(rendering: Rendering) -> None:
    source = "{{#if l}}" * 5000 + "{{/if}}" * 5000

    done = rendering.job(content(html=source), LIST)

    assert isinstance(done, RenderFailed)
    assert done.code in ("too_deep", "took_too_long")
    assert alive(rendering)


@pytest.mark.parametrize(
    "source",
    [
        "{{constructor}}",
        "{{constructor.name}}",
        "{{__proto__}}",
        "{{__proto__.constructor}}",
        "{{toString}}",
        "{{valueOf}}",
        "{{hasOwnProperty}}",
        '{{lookup this "constructor"}}',
        '{{lookup (lookup this "constructor") "constructor"}}',
        "{{#with constructor}}{{name}}{{/with}}",
        '{{#with (lookup l "constructor")}}{{name}}{{/with}}',
        "{{#each l}}{{#if @first}}{{constructor.constructor}}{{/if}}{{/each}}",
        "{{@root.constructor}}",
        "{{l.__proto__.push}}",
        "{{name.constructor}}",
    ],
)
def test_nothing_behind_the_values_can_be_reached(rendering: Rendering, source: str) -> None:
    assert rendering.text(source, {**LIST, "name": "x"}) == ""


def test_data_may_have_names_that_sound_dangerous(rendering: Rendering) -> None:
    assert rendering.text("{{constructor}} {{__proto__}}", {"constructor": "C", "__proto__": "P"}) == "C P"
    assert alive(rendering)


@pytest.mark.parametrize(
    "source", ["{{log l}}", "{{helperMissing}}", "{{#blockHelperMissing l}}x{{/blockHelperMissing}}"]
)
def test_there_is_no_other_helper(rendering: Rendering, source: str) -> None:
    done = rendering.job(content(html=source), LIST)

    assert isinstance(done, RenderFailed) or done.html == ""


def test_one_hostile_message_fails_alone_in_its_set(rendering: Rendering) -> None:
    good, bad = content(text="Hello {{name}}"), content(text=nested_loops(5))
    jobs = [
        RenderJob(content=bad if n % 10 == 3 else good, variables={"name": str(n), **LIST}, locale="en")
        for n in range(50)
    ]

    results = rendering.jobs(jobs)

    assert [isinstance(result, RenderFailed) for result in results] == [n % 10 == 3 for n in range(50)]
    assert all(
        result.text == f"Hello {n}" for n, result in enumerate(results) if isinstance(result, Rendered)
    )


def test_time_and_memory_are_the_last_resort() -> None:
    """Even where counting does not stop it, the guilty one is found and the rest are rendered."""
    limits = RenderLimits(steps=10**12, output=2**29, seconds=0.3, heap_bytes=48 * 1024 * 1024, set_size=8)
    rendering = Rendering(limits)
    slow = content(text=nested_loops(6))
    # Each turn makes a text of its own, because escaping makes one; together they don't fit.
    greedy = content(
        html="{{#each l}}{{#each ../l}}{{#each ../../l}}{{../../../big}}{{/each}}{{/each}}{{/each}}"
    )
    good = content(text="Hello {{name}}")
    values = {"name": "Laila", "big": "&" * 50_000, **LIST}

    results = rendering.jobs(
        [RenderJob(content=each, variables=values, locale="en") for each in (good, slow, good, greedy, good)]
    )

    assert [isinstance(result, Rendered) for result in results] == [True, False, True, False, True]
    assert alive(rendering)
    rendering.close()


def test_compiled_code_is_dropped_when_there_is_no_room() -> None:
    rendering = Rendering(RenderLimits(code_bytes=1000))
    contents = [content(text=f"{n} {{{{name}}}} " + "x" * 200) for n in range(20)]

    for _ in range(2):
        for n, each in enumerate(contents):
            done = rendering.job(each, {"name": "a"})
            assert isinstance(done, Rendered)
            assert (done.text or "").startswith(f"{n} a ")
    rendering.close()


def test_a_zero_character_separates_nothing(rendering: Rendering) -> None:
    done = rendering.jobs(
        [RenderJob(content=content(subject="a{{x}}b", text="{{x}}"), variables={"x": "\x00"}, locale="en")]
        * 2
    )

    assert [(each.subject, each.text) for each in done if isinstance(each, Rendered)] == [("ab", "")] * 2


def test_a_subject_is_one_line(rendering: Rendering) -> None:
    done = rendering.job(content(subject="Hi {{x}}", text="t"), {"x": "a\r\nBcc: b@example.test"})

    assert isinstance(done, Rendered)
    assert done.subject == "Hi a Bcc: b@example.test"


def test_a_large_argument_is_handed_over_and_nothing_of_it_stays() -> None:
    isolate = Isolate(RenderLimits(), program())
    try:
        text = '{{! Zoë 中文 \\ " \u2028 }}' + "x" * 20_000
        small, large = (isolate.call("parse", one) for one in (text[:1_000], text))
        left = isolate.call("taken", "")
    finally:
        isolate.close()

    assert len(small) > 1_000
    assert msgspec.json.decode(large)["tree"]["body"][1]["value"] == "x" * 20_000
    assert left == ""
