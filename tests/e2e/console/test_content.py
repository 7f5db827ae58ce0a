"""Somebody writes a template with both languages in sight and a colleague approves it; a batch is counted, started, paused and resumed."""

import base64
import json
from datetime import UTC, datetime

import httpx2
import pytest

from tests.support.browser import Browser
from tests.support.console_browser import keep, to, type_
from tests.support.running import RunningTidings, run_tidings
from tidings.backoffice.credentials import totp

pytestmark = pytest.mark.xdist_group("console")
WELCOME = {
    "semver": "1.0.0",
    "category": "transactional",
    "variables_schema": {"type": "object", "properties": {"name": {"type": "string"}}},
    "locales": {
        "en": {"format": "html", "subject": "Hello {{name}}", "body": "<p>Hello {{name}}</p>"},
        "ar": {"format": "html", "subject": "مرحبًا {{name}}", "body": "<p>مرحبًا {{name}}</p>"},
    },
    "preview_samples": {"usual": {"name": "Laila"}},
    "ai_provenance": {"model": "some-model", "prompt_hash": "sha256:0f"},
}
PAGE = "/console/templates/journey/email/versions/1.0.0"


def api(up: RunningTidings) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {up.demo['api_key']}"}
    return httpx2.AsyncClient(base_url=up.demo["base_url"], headers=headers)


async def said(at: Browser, selector: str, text: str) -> None:
    """Wait until an element says this."""
    await at.until(
        f"document.querySelector({json.dumps(selector)})?.textContent.includes({json.dumps(text)})"
    )


async def framed(at: Browser, side: str, text: str) -> None:
    """Wait until the mail of one side, which its frame is handed, says this."""
    shown = f"document.getElementById('{side}-html')?.dataset.html"
    await at.until(f"{shown}?.includes({json.dumps(text)})")


async def write(at: Browser, selector: str, text: str) -> None:
    """Type in the place of what a field holds."""
    await at.page.evaluate(f"document.querySelector({json.dumps(selector)}).select()")
    await at.page.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
    await type_(at, text)


async def press(at: Browser, selector: str) -> None:
    """Press a button, and wait for the page that it leads to."""
    await at.page.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
    await at.submit("true")


async def as_colleague(at: Browser, up: RunningTidings) -> None:
    """Join as another admin, at the same browser."""
    invited = run_tidings(
        "operator", "invite", "--tenant", "demo", "--email", "omid@example.com", "--name", "Omid Karimi",
        "--role", "tenant.admin", "--json", "--data-dir", str(up.data_dir),
    )  # fmt: skip
    link = json.loads(invited.stdout)["join_url"]
    path = link[link.index("/console/") :]
    await at.open(f"{up.demo['base_url']}{path}", width=1280, height=900, mobile=False)
    await write(at, "input[name=password]", "umbrella-42-giraffe")
    key = (await at.submit("document.querySelector('code.secret').textContent")).replace(" ", "")
    secret = base64.b32decode(key + "=" * (-len(key) % 8))
    await write(at, "input[name=code]", totp.code_of(secret, totp.step_at(datetime.now(UTC))))
    await at.submit("document.querySelector('ul.codes').textContent")


async def test_a_text_is_changed_with_both_languages_in_sight_and_a_colleague_publishes_it(
    up: RunningTidings, inside: Browser
) -> None:
    at, base = inside, up.demo["base_url"]
    async with api(up) as client:
        made = await client.post("/api/v1/templates/journey/email/versions", json=WELCOME)
        assert made.status_code == 201, made.text
    await at.open(f"{base}{PAGE}", width=1280, height=900, mobile=False)
    await framed(at, "left", "Hello Laila")
    await framed(at, "right", "مرحبًا Laila")
    # A frame that shows its mail says how high it is.
    await at.until(
        "[...document.querySelectorAll('iframe[sandbox=allow-scripts]')].filter((one) => one.style.height).length === 2"
    )

    # Both previews follow what is typed, and a mistake is named beside its line.
    await write(at, "#left-body", "<p>Good morning,\n{{name}}</p>")
    await framed(at, "left", "Good morning")
    await write(at, "#right-body", "<p>صباح الخير {{name}}</p>")
    await framed(at, "right", "صباح الخير Laila")
    await keep(at, "template-editor")
    await write(at, "#left-body", "<p>Good morning,\n{{nam}}</p>")
    await said(at, "#left-body-faults", "Line 2, column")
    assert "nam is not declared" in await at.see("document.querySelector('#left-body-faults').textContent")
    await said(at, "#verdict", "To mend before it is published: 1")
    await keep(at, "template-editor-mistake")
    await write(at, "#left-body", "<p>Good morning,\n{{name}}</p>")
    await said(at, "#verdict", "Nothing stands in the way of publishing.")
    assert await at.faults() == []

    # It was drafted by a machine: the key that made it can't approve it, and neither can who changed it.
    await press(at, "button[value=save]")
    await said(at, "[role=status]", "Saved.")
    await press(at, "button[value=ask]")
    await said(at, "[role=status]", "Your colleagues are told")
    await press(at, "button[value=publish]")
    await said(at, "[role=alert]", "Somebody else has to approve it")

    await as_colleague(at, up)
    await at.open(f"{base}/console/templates?key=journey", width=1280, height=900, mobile=False)
    await said(at, "main table", "asks for approval")
    await at.open(f"{base}{PAGE}", width=1280, height=900, mobile=False)
    await framed(at, "right", "صباح الخير Laila")
    await press(at, "button[value=approve]")
    await said(at, "[role=status]", "It is approved.")
    await press(at, "button[value=publish]")
    await said(at, "[role=status]", "It is published")
    async with api(up) as client:
        stored = (await client.get("/api/v1/templates/journey/email/versions/1.0.0")).json()
    assert (stored["status"], stored["locales"]["en"]["body"]) == ("active", "<p>Good morning,\n{{name}}</p>")
    assert await at.faults() == []


async def test_a_batch_is_built_counted_started_paused_and_resumed(
    up: RunningTidings, inside: Browser
) -> None:
    at, base = inside, up.demo["base_url"]
    async with api(up) as client:
        for number in range(3):
            person = {
                "identity": {"type": "guest", "id": f"journey-{number}"},
                "tags": ["journey"],
                "locale": "en",
                "addresses": [{"channel": "email", "address": f"journey{number}@example.test"}],
            }
            assert (await client.post("/api/v1/recipients", json=person)).is_success
    await at.open(f"{base}/console/batches/new", width=1280, height=900, mobile=False)
    await write(at, "input[name=name]", "Codes for all")
    await write(at, "input[name=template]", "otp")
    await at.page.evaluate("document.querySelector('select[name=channel]').value = 'email'")
    await write(at, "textarea[name=variables]", '{"code": "481516"}')
    await write(at, "textarea[name=filter]", "tag = journey")
    await said(at, "#count", "texts are written between")
    await write(at, "textarea[name=filter]", "tag = 'journey'")
    await at.until("document.querySelector('#count .tiles strong')?.textContent === '3'")
    assert await at.see("document.querySelectorAll('#count tbody tr').length") == 3
    await keep(at, "batch-builder")
    # At so slow a pace that it can be paused.
    await write(at, "input[name=per_minute]", "1")
    await to(at, "#builder button:not([type=button])")
    await press(at, "#builder .card > button")
    await said(at, "[role=status]", "The draft is there.")

    await at.page.evaluate(
        "document.querySelector('form[action$=\"/start\"]').closest('details').open = true"
    )
    await press(at, "form[action$='/start'] button")
    await said(at, "[role=status]", "It has started.")
    # The page follows it without being opened anew.
    await at.until("!document.querySelector('#going .tiles').textContent.includes('Remaining3')")
    await keep(at, "batch-running")
    await press(at, "form[action$='/pause'] button")
    await said(at, "[role=status]", "It is paused")
    await said(at, "#progress", "Paused")
    await press(at, "form[action$='/resume'] button")
    await said(at, "[role=status]", "It goes on where it stood.")
    await said(at, "#progress", "Running")
    await at.page.evaluate(
        "document.querySelector('form[action$=\"/cancel\"]').closest('details').open = true"
    )
    await press(at, "form[action$='/cancel'] button")
    await said(at, "[role=status]", "It is cancelled.")
    assert await at.faults() == []
