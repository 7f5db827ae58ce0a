"""Where a vendor calls us is an address that can be pasted, or it is said what is missing."""

import pytest

from tidings.router.accounts.model import StoredAccount
from tidings.router.channel_configs.hook import hook_of

ACCOUNT = StoredAccount(
    id="adcfg_1",
    platform=False,
    vendor="twilio",
    handle=None,
    secret_ref="file://t",
    per_second=None,
    per_day=None,
)


def test_below_the_public_address() -> None:
    hook = hook_of(ACCOUNT, "https://tidings.example/base/")

    assert (hook.url, hook.advice) == ("https://tidings.example/base/hooks/twilio/adcfg_1", None)


def test_nothing_is_told_but_where_it_is() -> None:
    """Every tenant sees it: a password of the operators' in their own address is none of theirs."""
    hook = hook_of(ACCOUNT, "https://ops:hunter2@tidings.example:8443/base?key=hunter2#hunter2")

    assert hook.url == f"https://tidings.example:8443/base/hooks/{ACCOUNT.vendor}/{ACCOUNT.id}"


def test_without_one_the_setting_is_named() -> None:
    hook = hook_of(ACCOUNT, None)

    assert hook.url is None
    assert hook.advice is not None
    assert "TIDINGS_PUBLIC_URL" in hook.advice
    assert "/hooks/twilio/adcfg_1" in hook.advice


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "10.0.0.7", "[::1]:8080"])
def test_an_address_that_nobody_outside_reaches_is_said(host: str) -> None:
    hook = hook_of(ACCOUNT, f"http://{host}")

    assert hook.url == f"http://{host}/hooks/twilio/adcfg_1"
    assert hook.advice is not None
    assert "TIDINGS_PUBLIC_URL" in hook.advice
