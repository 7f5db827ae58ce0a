"""An operator edits a ladder: moves a step by keyboard, sees what would happen, saves it, and undoes that."""

import pytest

from tests.support.browser import Browser
from tests.support.console_browser import keep, to, type_
from tests.support.running import RunningTidings

pytestmark = pytest.mark.xdist_group("console")

_LADDER = "[...document.querySelectorAll('#picture strong')].map((one) => one.textContent).join(' ')"


async def _alt(at: Browser, key: str, code: int) -> None:
    given = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 1}
    await at.page.call("Input.dispatchKeyEvent", {"type": "keyDown", **given})
    await at.page.call("Input.dispatchKeyEvent", {"type": "keyUp", **given})


async def test_an_operator_edits_a_ladder_simulates_it_saves_it_and_undoes_that(
    up: RunningTidings, inside: Browser
) -> None:
    at, base = inside, up.demo["base_url"]

    # A ladder of two steps.
    await at.open(f"{base}/console/policies/new?use_case=alert", width=1280, height=900, mobile=False)
    await at.page.evaluate("document.querySelector('button[value=add]').focus()")
    await at.submit("document.querySelectorAll('[data-step]').length === 2")
    await at.page.evaluate(
        "(() => { const one = document.querySelector('[name=\"s1.channel\"]'); one.value = 'sms';"
        " one.dispatchEvent(new Event('input', { bubbles: true })) })()"
    )
    await at.until(f"{_LADDER} === 'Email Text message'")

    # What would happen stands there while somebody types.
    await to(at, "#recipient")
    await type_(at, "laila@example.test")
    await to(at, "#template")
    await type_(at, "otp")
    await to(at, "#variables")
    await type_(at, '{"code": "424242"}')
    await at.until("document.querySelector('#outcome .timeline') !== null")
    await keep(at, "ladder-simulated")
    await at.page.evaluate("document.querySelector('#steps-of button[value=save]').focus()")
    assert "is saved" in await at.submit("document.querySelector('[role=status]').textContent")
    saved = await at.see("location.pathname")

    # Alt with an arrow moves the step in which the focus is.
    await to(at, '[name="s1.deadline"]')
    await at.see("true", after=lambda: _alt(at, "ArrowUp", 38))
    await at.until(f"{_LADDER} === 'Text message Email'")
    await at.page.evaluate("document.querySelector('#steps-of button[value=save]').focus()")
    assert "is saved" in await at.submit("document.querySelector('[role=status]').textContent")
    assert await at.see(_LADDER) == "Text message Email"

    # The page after it takes it back.
    await to(at, "[role=status] button")
    assert "says again" in await at.submit("document.querySelector('[role=status]').textContent")
    assert await at.see(_LADDER) == "Email Text message"
    await at.open(f"{base}{saved}/versions", width=1280, height=900, mobile=False)
    assert await at.see("document.querySelectorAll('main section').length") == 3
    assert await at.faults() == []
