"""Whoever looks after a house finds in a browser what colleagues did, and the keys to its doors."""

import pytest

from tests.support.browser import Browser
from tests.support.console_browser import to, type_
from tests.support.running import RunningTidings

pytestmark = pytest.mark.xdist_group("console")


async def test_a_refused_key_is_found_in_the_ledger_by_keyboard(inside: Browser, up: RunningTidings) -> None:
    """From the board of who is there to the keys of a reservation, to a form that is refused, to the row that says so."""
    await inside.open(
        f"{up.demo['base_url']}/console/workbench/kabul-garden/in-house", width=1280, height=900, mobile=False
    )
    await to(inside, "tbody a[href^='/console/locks/kabul-garden/']")
    reservation = await inside.see("document.activeElement.getAttribute('href').split('/').pop()")
    assert reservation in await inside.submit("document.querySelector('h1').textContent")

    await to(inside, "details.confirm summary")
    await inside.press("Enter")
    await to(inside, "#code-issue")
    await type_(inside, "000000")
    await inside.submit("document.querySelector('[role=alert]')?.textContent")
    await inside.open(
        f"{up.demo['base_url']}/console/activity?outcome=refused", width=1280, height=900, mobile=False
    )

    assert "act_on_lock" in await inside.see("document.querySelector('main').textContent")
    assert await inside.faults() == []
