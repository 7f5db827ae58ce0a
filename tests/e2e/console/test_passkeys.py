"""The demo's operator adds a passkey in Chromium, whose authenticator is a virtual one, and signs in by it alone."""

import json

import pytest

from tests.support.browser import Browser
from tests.support.console_browser import keep
from tests.support.running import RunningTidings, run_tidings

pytestmark = pytest.mark.xdist_group("console")


async def test_a_passkey_is_added_and_signs_in(up: RunningTidings, at: Browser) -> None:
    """At localhost, as browsers know no passkeys of IP addresses."""
    base = up.demo["base_url"].replace("127.0.0.1", "localhost")
    await at.page.call("WebAuthn.enable", {})
    authenticator = await at.page.call(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    made = run_tidings("operator", "link", "--json", "--data-dir", str(up.data_dir))
    path = json.loads(made.stdout)["console_url"].partition("/console/")[2]
    await at.open(f"{base}/console/{path}", width=1280, height=900, mobile=False)
    await at.page.evaluate("document.querySelector('main button').focus()")
    await at.submit("true")

    await at.open(f"{base}/console/account", width=1280, height=900, mobile=False)
    await at.page.evaluate("document.querySelector('[data-passkey=register]').click()")
    told = "document.querySelector('main > [role]')?.textContent ?? ''"
    await at.until(f"({told}).includes('Passkey added')")
    assert await at.see("document.querySelectorAll('#passkeys li').length") == 1
    await keep(at, "passkeys")

    await at.page.evaluate("document.querySelector('.top form.out button').focus()")
    await at.submit("true")
    await at.until("document.querySelector('[data-passkey=sign_in]')?.hidden === false")
    await keep(at, "sign-in-passkey")
    await at.page.evaluate("document.querySelector('[data-passkey=sign_in]').click()")
    await at.until("document.querySelector('h1')?.textContent.includes('Demo operator')")

    # In the place of a code: the passkey is removed by itself.
    await at.open(f"{base}/console/account", width=1280, height=900, mobile=False)
    await at.page.evaluate("document.querySelector('#passkeys details summary').click()")
    await at.page.evaluate("document.querySelector('#passkeys details [data-passkey=prove]').click()")
    await at.until(f"({told}).includes('Passkey removed')")
    assert await at.faults() == []
    await at.page.call("WebAuthn.removeVirtualAuthenticator", authenticator)
