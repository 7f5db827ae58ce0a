"""What a look at an SMTP account says about its bounces."""

from typing import Any

import pytest

from tests.support.vendors import KnownSecrets
from tidings.router.adapters.registry import read_account
from tidings.router.channel_configs.check_steps import callbacks
from tidings.router.channel_configs.hook import HookAddress

NOWHERE = HookAddress(url=None, advice="")


@pytest.mark.parametrize(
    ("settings", "result", "words"),
    [
        ({}, "skipped", "this adapter has none"),
        ({"bounce_address": "b@shop.example"}, "ok", "bounces come by mail to b@shop.example"),
        ({"return_path_domain": "b.shop.example"}, "ok", "bounces come by mail to b.shop.example"),
        (
            {"bounce_address": "b@shop.example", "bounce_imap_url": "imaps://b@mx.example/"},
            "ok",
            "bounces come by mail to b@shop.example, and are read from the mailbox over IMAP",
        ),
    ],
)
async def test_where_bounces_come_to(settings: dict[str, Any], result: str, words: str) -> None:
    read = await read_account("smtp", {"host": "mx.example", **settings}, KnownSecrets())
    step = callbacks(NOWHERE, read)
    assert (step.result, step.words) == (result, words)
    assert (step.next is not None) == (bool(settings) and "bounce_imap_url" not in settings)
