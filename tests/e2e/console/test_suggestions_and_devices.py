"""People decide suggestions by keyboard; an application binds its session to a key that the browser does not hand out."""

import json

import pytest

from tests.support.browser import Browser
from tests.support.console_browser import keep, needs_axe, serious, to
from tests.support.running import RunningTidings

pytestmark = pytest.mark.xdist_group("console")

#: What an application of a product does in its page: a key that can't leave the browser, and a proof for each request.
APPLICATION = """
window.app = (async () => {
  const text = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const json = (value) => text(new TextEncoder().encode(JSON.stringify(value)));
  const me = await (await fetch("/bff/v1/session")).json();
  const key = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
  const proof = async (method, target) => {
    const claims = { htm: method, htu: target, iat: Date.now() / 1000, jti: text(crypto.getRandomValues(new Uint8Array(16))), sid: me.session_id };
    const signed = `${json({ typ: "device-proof+jwt", alg: "ES256" })}.${json(claims)}`;
    const mark = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key.privateKey, new TextEncoder().encode(signed));
    return `${signed}.${text(mark)}`;
  };
  const call = async (method, target, body, proven = true) => fetch(target, {
    method, body: body && JSON.stringify(body),
    headers: { "content-type": "application/json", "x-csrf-token": me.csrf_token, ...(proven ? { "device-proof": await proof(method, target) } : {}) },
  });
  const own = `/bff/v1/devices/${me.device_id}`;
  const public_key = await crypto.subtle.exportKey("jwk", key.publicKey);
  const hidden = await crypto.subtle.exportKey("jwk", key.privateKey).then(() => false, () => true);
  const shaken = await call("POST", `${own}/handshake`, { app_version: "4.2.0", app_platform: "Test browser", public_key }, false);
  return { call, own, hidden, shaken: (await shaken.json()).needs_proof };
})();
"""
#: A stream that is read with a proof, until it says what is looked for.
HEAR = """
(async () => {
  const { call, own } = await app;
  const answer = await call("GET", "/bff/v1/stream?channels=devices");
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  window.heard = () => said;
  (async () => { for (;;) { const { value, done } = await reader.read(); if (done) { said += "DONE"; return; } said += value; } })();
})()
"""


@needs_axe
async def test_suggestions_are_decided_by_keyboard_alone(up: RunningTidings, inside: Browser) -> None:
    base = up.demo["base_url"]
    at = inside
    await at.open(f"{base}/console/ai-inbox", width=1280, height=900, mobile=False)
    assert await at.see("document.querySelectorAll('article[data-row]').length") >= 2
    assert await serious(at) == []
    await keep(at, "suggestions")

    await at.press("j")
    first = await at.until("document.activeElement?.closest('article')?.id")
    await at.press("j")
    second = await at.until(
        f"document.activeElement?.closest('article')?.id !== {json.dumps(first)} && document.activeElement.closest('article').id"
    )
    await at.press("k")
    await at.until(f"document.activeElement?.closest('article')?.id === {json.dumps(first)}")
    assert second != first

    await to(at, f"#{first} details.confirm summary")
    await at.press("Enter")
    await to(at, f"#{first} details[open] button")
    told = await at.submit("document.querySelector('[role=status]')?.textContent")
    assert told == "Accepted."
    assert await at.see(f"document.getElementById({json.dumps(first)})") is None
    await at.open(f"{base}/console/ai-inbox?status=decided", width=390, height=800)
    await at.until("document.body.textContent.includes('The service knows.') || location.reload()")
    assert await at.see("document.documentElement.scrollWidth <= innerWidth")
    assert await at.faults() == []


async def test_an_application_signs_each_request_with_a_key_that_stays_in_the_browser(
    up: RunningTidings, inside: Browser
) -> None:
    base = up.demo["base_url"]
    at = inside
    await at.open(f"{base}/console/devices", width=1280, height=800, mobile=False)
    await at.page.evaluate(f"{APPLICATION} true")
    assert await at.until("app.then(({ hidden, shaken }) => hidden && shaken)") is True

    await at.page.evaluate(f"{HEAR}; true")
    await at.until("window.heard?.().includes('event: hello')")
    path = "app.then(async ({ call, own }) => (await call('POST', `${own}/heartbeat`, { network_profile: 'wifi' })).status)"
    assert await at.see(path) == 200
    assert (
        await at.see("app.then(async ({ call }) => (await call('GET', '/bff/v1/devices?limit=5')).status)")
        == 200
    )

    # The cookies alone, as somebody has them who carried them off: nothing, and the session is over, with its stream.
    code = "fetch('/bff/v1/session').then(async (answer) => (await answer.json()).code)"
    assert await at.see(code) == "session_of_another_device"
    await at.until("window.heard().endsWith('DONE') && window.heard().includes('session_ended')")
    assert await at.see("app.then(async ({ call }) => (await call('GET', '/bff/v1/session')).status)") == 401
