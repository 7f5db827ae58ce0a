"""What authors write is checked in children of its own: a text can end its child, and uses up its tenant's time."""

import os
import signal
from dataclasses import replace

import pytest

from tests.support.versions import draft_version
from tidings.kernel.refusals import InvalidError, UnavailableError
from tidings.notify.render.budget import Budget
from tidings.notify.templates.assemble import AssemblyContext
from tidings.notify.templates.authoring import LIMITS, MOST_WAITING, Authoring
from tidings.notify.templates.errors import TooMuchCheckingError
from tidings.notify.templates.model import BodyFormat, LinkPolicy, Source
from tidings.notify.templates.validate import ValidationRequest

_SAMPLES = {"usual": {"name": "Laila"}}
_SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}


def asked(body: str, format_: BodyFormat = BodyFormat.HTML) -> ValidationRequest:
    source = Source(format=format_, body=body, subject="Hello")
    return ValidationRequest(
        version=draft_version({"en": source}, samples=_SAMPLES, schema=_SCHEMA),
        around=AssemblyContext(key="welcome", channel="email", default_locale="en"),
        links=LinkPolicy(),
    )


async def test_a_text_that_ends_its_child_is_reported_and_the_next_one_is_checked() -> None:
    """Whatever a parser stumbles over, the report says so and the process lives on."""
    authoring = Authoring(limits=replace(LIMITS, seconds=0.2))
    # Takes a second to parse and to compile.
    bomb = asked("<p>" + "{{#if name}}{{name}}{{/if}}" * 4900 + "</p>")

    [finding] = (await authoring.of("tenant").validate(bomb)).findings
    fine = await authoring.of("tenant").validate(asked("<p>{{name}}</p>"))

    assert (finding.severity, finding.field) == ("error", "locales")
    assert "too long" in finding.what
    assert fine.findings == ()
    assert fine.locales["en"].compiled is not None
    await authoring.close()


@pytest.mark.parametrize(
    ("body", "format_"),
    [
        ("<mjml><mj-body>" + "<li>" * 7000 + "x" + "</li>" * 7000 + "</mj-body></mjml>", BodyFormat.MJML),
        ("".join(f"<p><b id=a{n}>x</p>" for n in range(1500)), BodyFormat.HTML),
        ("<p>{{" + "a." * 90_000 + "a}}</p>", BodyFormat.HTML),
        ("|a|\n|-|\n" + "|x|\n" * 40_000, BodyFormat.MARKDOWN),
        ("<p>" + "".join(f"tk{n}n" for n in range(30_000)) + "{{name}}</p>", BodyFormat.HTML),
    ],
    ids=["deep", "multiplied", "long path", "long table", "words like ours"],
)
async def test_what_a_parser_stumbles_over_harms_nobody(body: str, format_: BodyFormat) -> None:
    """Refused or taken, at once or not: an answer comes, and ours is the same process as before."""
    authoring = Authoring()

    report = await authoring.of("tenant").validate(asked(body, format_))

    assert report.findings or report.locales
    await authoring.close()


async def test_a_child_that_somebody_kills_is_not_the_authors_fault() -> None:
    """The next one reads the text; that it had to be started is counted, or ending children would cost nothing."""
    authoring = Authoring(budget=Budget(at_once=0.0, per_minute=0.001))
    await authoring.of("other").validate(asked("<p>{{name}}</p>"))
    [pid] = authoring.lane.pids
    os.kill(pid, signal.SIGKILL)

    report = await authoring.of("tenant").validate(asked("<p>{{name}}</p>"))

    assert report.findings == ()
    assert pid not in authoring.lane.pids
    # By the budget's rate, seconds of processor time.
    assert authoring.budget.wait_of("tenant") * 0.001 / 60 > 0.05
    await authoring.close()


async def test_who_has_used_up_its_time_is_told_when_to_come_again() -> None:
    authoring = Authoring(budget=Budget(at_once=0.0, per_minute=0.001))
    first = authoring.of("tenant")
    await first.validate(asked("<p>{{name}}</p>"))

    with pytest.raises(TooMuchCheckingError, match="seconds of processor time") as refused:
        await authoring.of("tenant").validate(asked("<p>{{name}}</p>"))
    # What was begun is brought to its end, and others have their own.
    await first.validate(asked("<p>{{name}}</p>"))
    other = await authoring.of("other").validate(asked("<p>{{name}}</p>"))
    await authoring.of(None).validate(asked("<p>{{name}}</p>"))

    assert refused.value.retry_after > 1
    assert other.findings == ()
    await authoring.close()


async def test_versions_that_take_too_long_to_compare_are_refused() -> None:
    """Lines that come again and again are what difflib takes quadratic time for."""
    authoring = Authoring(limits=replace(LIMITS, seconds=0.2))
    before, after = (asked("\n".join(str(n * step % 120) for n in range(40_000))).version for step in (1, 7))

    with pytest.raises(InvalidError, match="takes too long to be compared"):
        await authoring.of("tenant").diff(before, after)
    await authoring.close()


async def test_a_child_that_can_not_start_is_no_mistake_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")

    with pytest.raises(UnavailableError, match="could not be started"):
        await Authoring().of("tenant").validate(asked("<p>{{name}}</p>"))


async def test_not_more_than_a_few_wait() -> None:
    authoring = Authoring()
    authoring.lane._with["tenant"] = MOST_WAITING

    with pytest.raises(TooMuchCheckingError, match="waiting already"):
        await authoring.of("tenant").validate(asked("<p>{{name}}</p>"))
    await authoring.close()
