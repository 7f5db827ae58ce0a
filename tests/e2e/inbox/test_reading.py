"""The in-app inbox as people meet it: in two tabs, by keyboard, without a network, when the server says no."""

from datetime import timedelta

from tests.support.inbox_reader import FOCUSED, ROOT, InboxReaderAtShop

ITEM = f"{FOCUSED}.querySelector('h3')?.textContent"


async def test_what_is_read_in_one_tab_falls_in_the_other(reader: InboxReaderAtShop) -> None:
    await reader.get("order", "answer")
    first = await reader.open()
    second = await reader.open(again=True)
    await first.badge("2")
    await second.badge("2")
    await first.open_bell(2)
    await first.browser.press("r")
    await first.badge("1")
    await second.badge("1")
    await second.open_bell(2)
    await second.until("root.querySelectorAll('article.unread').length === 1")
    await second.browser.press("End")
    await second.browser.press("e")
    await first.badge("")
    await first.until("root.querySelectorAll('article').length === 1")
    await reader.until_saved(unread=0)
    assert [item["title"] for item in (await reader.inbox(view="archived"))["items"]] == [
        "Your order A-1001 is on its way"
    ]


async def test_what_comes_is_there_in_all_tabs_at_once_and_one_of_them_listens(
    reader: InboxReaderAtShop,
) -> None:
    first = await reader.open()
    second = await reader.open(again=True)
    await first.badge("")
    await second.open_bell(0)
    await reader.streams(1)
    await reader.get("order")
    await first.badge("1")
    await second.badge("1")
    assert await second.titles() == ["Your order A-1001 is on its way"]
    await second.until(
        "root.querySelector('.heard[role=status]').textContent === 'New message: Your order A-1001 is on its way'"
    )
    # When the tab that listens closes another one does, and misses nothing.
    await first.browser.open("about:blank")
    await reader.get("answer")
    await second.badge("2")
    await reader.streams(1)
    # What is done elsewhere is seen here.
    [newest, _] = (await reader.inbox())["items"]
    path = f"/api/v1/recipients/{await reader.recipient_id()}/inbox/{newest['id']}/read"
    assert (await reader.sender.client.post(path)).status_code == 200
    await second.badge("1")
    await second.until("root.querySelectorAll('article.unread').length === 1")


async def test_all_of_it_can_be_done_by_keyboard(reader: InboxReaderAtShop) -> None:
    await reader.get("order", "invoice", "answer")
    tab = await reader.open()
    await tab.badge("3")
    await tab.browser.press("Tab")
    assert await tab.see("root.activeElement.getAttribute('aria-label')") == "Notifications. Unread: 3"
    await tab.browser.press("Enter")
    await tab.browser.until(f"{ITEM} === 'Karim has answered you'")
    await tab.browser.press("ArrowDown")
    assert await tab.browser.see(ITEM) == "An invoice is due in three days"
    await tab.browser.press("r")
    await tab.badge("2")
    await tab.browser.press("r")
    await tab.badge("3")
    await tab.browser.press("End")
    assert await tab.browser.see(ITEM) == "Your order A-1001 is on its way"
    await tab.browser.press("Home")
    await tab.browser.press("e")
    # Where an item goes its neighbour has the focus.
    await tab.browser.until(f"{ITEM} === 'An invoice is due in three days'")
    await tab.until("root.querySelector('.toast').textContent === 'Archived.Undo'")
    await tab.browser.click(f"{ROOT}.querySelector('.toast button')")
    await tab.until("root.querySelectorAll('article').length === 3")
    await tab.browser.press("Home")
    await tab.browser.press("s")
    await tab.browser.until(f"{FOCUSED}.getAttribute('role') === 'menuitem'")
    await tab.browser.press("Escape")
    await tab.browser.until(f"{ITEM} === 'Karim has answered you'")
    assert await tab.see("root.querySelector('.menu')") is None
    await tab.browser.press("s")
    await tab.browser.until(f"{FOCUSED}.getAttribute('role') === 'menuitem'")
    await tab.browser.press("ArrowDown")
    await tab.browser.press("Enter")
    await tab.until("root.querySelectorAll('article').length === 2")
    await tab.browser.press("Escape")
    assert await tab.see("root.querySelector('.panel').hidden") is True
    assert await tab.see("root.activeElement === root.querySelector('.bell')") is True
    # Unread were two before as well, when one was archived for a moment.
    await reader.until_saved(unread=2, snoozed=1)


async def test_enter_opens_and_the_page_may_do_it_itself(reader: InboxReaderAtShop) -> None:
    await reader.get("order")
    tab = await reader.open()
    await tab.open_bell(1)
    await tab.browser.see(
        "document.addEventListener('tidings-item-click', (event) => { event.preventDefault(); window.clicked = event.detail })"
    )
    await tab.browser.press("Enter")
    clicked = await tab.browser.until("window.clicked")
    assert (clicked["item"]["title"], clicked["href"]) == ("Your order A-1001 is on its way", None)
    await tab.badge("")


async def test_what_was_refused_is_undone_and_said(reader: InboxReaderAtShop) -> None:
    await reader.get("order", "answer")
    tab = await reader.open()
    await tab.open_bell(2)
    async with reader.world.http.as_platform() as operator:
        tenant = f"/internal/v1/tenants/{reader.sender.tenant_id}"
        assert (await operator.post(f"{tenant}/freeze")).status_code == 200
        await tab.browser.press("r")
        await tab.until("root.querySelector('[role=alert]').textContent.startsWith('That did not work')")
        await tab.until("root.querySelectorAll('article.unread').length === 2")
        assert (await operator.post(f"{tenant}/unfreeze")).status_code == 200


async def test_what_was_deleted_elsewhere_is_not_brought_back(reader: InboxReaderAtShop) -> None:
    """Whichever comes first, the news of it or the refusal of what was done with it."""
    await reader.get("order", "answer")
    tab = await reader.open()
    await tab.open_bell(2)
    [newest, _] = (await reader.inbox())["items"]
    path = f"/api/v1/recipients/{await reader.recipient_id()}/inbox/{newest['id']}"
    assert (await reader.sender.client.delete(path)).status_code == 204
    await tab.browser.press("r")
    await tab.until("root.querySelectorAll('article').length === 1")
    await tab.badge("1")
    assert await tab.titles() == ["Your order A-1001 is on its way"]


async def test_without_a_network_it_is_done_here_and_saved_later(reader: InboxReaderAtShop) -> None:
    await reader.get("order", "answer")
    tab = await reader.open()
    await tab.open_bell(2)
    await tab.browser.offline(is_on=True)
    await tab.until("root.querySelector('.banner').textContent.startsWith('You are offline')")
    await tab.browser.press("r")
    await tab.badge("1")
    assert (await reader.inbox())["unread"] == 2
    await tab.browser.offline(is_on=False)
    await tab.until("root.querySelector('.banner').hidden")
    await reader.until_saved(unread=1)
    await tab.badge("1")


async def test_read_all_archive_and_later(reader: InboxReaderAtShop) -> None:
    await reader.get("order", "invoice", "answer")
    tab = await reader.open()
    await tab.open_bell(3)
    await tab.browser.click(f"{ROOT}.querySelector('[part~=all]')")
    await tab.badge("")
    await tab.until("root.querySelectorAll('article.unread').length === 0")
    await tab.show_tab("unread")
    await tab.until("root.querySelector('.empty b')?.textContent === 'You are all caught up'")
    await tab.show_tab("billing")
    await tab.until("root.querySelectorAll('article').length === 1")
    assert await tab.titles() == ["An invoice is due in three days"]
    await tab.browser.click(f"{ROOT}.querySelector('[data-do=archive]')")
    await tab.until("root.querySelectorAll('article').length === 0")
    await tab.show_tab("archive")
    await tab.until("root.querySelectorAll('article').length === 1")
    await tab.browser.click(f"{ROOT}.querySelector('[data-do=unarchive]')")
    await tab.show_tab("all")
    await tab.until("root.querySelectorAll('article').length === 3")
    assert (await reader.inbox())["unread"] == 0


async def test_an_action_is_chosen_once(reader: InboxReaderAtShop) -> None:
    await reader.get("invoice")
    tab = await reader.open()
    second = await reader.open(again=True)
    await second.open_bell(1)
    await tab.open_bell(1)
    await tab.browser.click(f"{ROOT}.querySelectorAll('[part=action]')[1]")
    chosen = "root.querySelector('[part=action][aria-pressed=true]:disabled')?.textContent"
    await tab.until(f"{chosen} === 'Not now'")
    await second.until(f"{chosen} === 'Not now'")
    [item] = (await reader.inbox())["items"]
    assert (item["acted"], item["read_at"] is not None) == ("later", True)


async def test_a_token_that_was_voided_is_asked_for_anew(reader: InboxReaderAtShop) -> None:
    await reader.get("order")
    tab = await reader.open()
    await tab.open_bell(1)
    voided = await reader.sender.client.delete(
        f"/api/v1/recipients/{await reader.recipient_id()}/inbox-tokens"
    )
    assert voided.status_code == 204
    await reader.world.clock.advance(timedelta(seconds=1))
    await tab.browser.press("r")
    await reader.until_saved(unread=0)
    # Who is signed out is told so.
    await tab.browser.see("document.querySelector('tidings-inbox').tokenProvider = () => 'tdi_nothing'")
    await tab.until("root.querySelector('.banner').textContent.startsWith('Your session has ended')")


async def test_a_stream_whose_token_has_ended_goes_on_with_a_new_one(reader: InboxReaderAtShop) -> None:
    """Nobody does anything: the server ends the stream, and the component asks the page's backend once more."""
    await reader.get("order")
    tab = await reader.open()
    await tab.browser.see(
        "document.querySelector('tidings-inbox').tokenProvider = async () => {"
        " window.asked = (window.asked ?? 0) + 1;"
        " return (await fetch('/inbox/token', { method: 'POST' })).json() }"
    )
    await tab.badge("1")
    await reader.streams(1)
    before = await tab.browser.see("window.asked")
    path = f"/api/v1/recipients/{await reader.recipient_id()}/inbox-tokens"
    assert (await reader.sender.client.delete(path)).status_code == 204
    await reader.world.clock.advance(timedelta(seconds=1))
    await tab.browser.until(f"window.asked > {before}")
    await reader.streams(1)
    await reader.get("answer")
    await tab.badge("2")


async def test_more_comes_as_one_goes_on(reader: InboxReaderAtShop) -> None:
    await reader.get(*["order", "answer"] * 12, at_once=True)
    tab = await reader.open()
    await tab.open_bell()
    await tab.until("root.querySelectorAll('article').length >= 20")
    await tab.browser.press("End")
    await tab.until("root.querySelectorAll('article').length === 24")
    await tab.browser.press("End")
    await tab.until("root.activeElement.getAttribute('aria-posinset') === '24'")


async def test_more_comes_although_the_end_is_reached_while_the_list_is_read_anew(
    reader: InboxReaderAtShop,
) -> None:
    await reader.get(*["order", "answer"] * 12, at_once=True)
    tab = await reader.open()
    await tab.open_bell(20)
    await tab.browser.see(
        "(() => { const ask = window.fetch, held = new Promise((go) => { window.release = go });"
        " window.fetch = (...asked) => held.then(() => ask(...asked));"
        " void document.querySelector('tidings-inbox').refresh() })()"
    )
    await tab.browser.press("End")
    await tab.until("root.activeElement.getAttribute('aria-posinset') === '20'")
    # What looks whether the end is in sight has said so by then.
    await tab.browser.see("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
    await tab.browser.see("window.release()")
    await tab.until("root.querySelectorAll('article').length === 24")
