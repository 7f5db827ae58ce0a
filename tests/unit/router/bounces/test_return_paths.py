"""The return path of a message: its token, its two forms, and what is refused."""

from typing import Any

import msgspec
import pytest

from tidings.kernel.errors import BadValueError
from tidings.kernel.keys.pepper import Pepper
from tidings.router.adapters.mail.return_path import ReturnPath
from tidings.router.adapters.smtp.adapter import SmtpSettings
from tidings.router.bounces.tokens import ReturnTokens

ACCOUNT = "adcfg_01JCQ8ZK6T9Y4M2V7N5B3D1F0G"
ATTEMPT = "attempt_01JCQ8ZK6T9Y4M2V7N5B3D1F0H"


async def _tokens(material: bytes = b"k" * 32) -> ReturnTokens:
    async def pepper() -> Pepper:
        return Pepper(material)

    tokens = ReturnTokens(pepper)
    await tokens.get_ready()
    return tokens


def _path(tokens: ReturnTokens | None, **settings: Any) -> ReturnPath:
    write = None if tokens is None else (lambda attempt_id: tokens.write(ACCOUNT, attempt_id))
    return ReturnPath(msgspec.convert({"host": "mx.example", **settings}, SmtpSettings), write)


@pytest.mark.parametrize(
    ("settings", "before", "after"),
    [
        ({"bounce_address": "bounces@mail.example"}, "bounces+", "@mail.example"),
        ({"return_path_domain": "bounces.example"}, "", "@bounces.example"),
        ({"return_path_domain": "BOUNCES.example"}, "", "@bounces.example"),
    ],
)
async def test_each_attempt_has_a_return_path_of_its_own(
    settings: dict[str, str], before: str, after: str
) -> None:
    tokens = await _tokens()
    address = _path(tokens, **settings).of(ATTEMPT)
    assert address is not None
    assert address.startswith(before)
    assert address.endswith(after)
    assert len(address.partition("@")[0]) <= 64
    for spelled in (address, address.upper(), address.title()):
        read = tokens.read(spelled)
        assert read is not None
        assert (read.attempt_id, read.account_mark) == (ATTEMPT, ACCOUNT[-8:])


async def test_a_token_that_we_did_not_write_is_refused() -> None:
    tokens, others = await _tokens(), await _tokens(b"o" * 32)
    token = tokens.write(ACCOUNT, ATTEMPT)
    assert others.read(f"{token}@bounces.example") is None
    for place in range(len(token)):
        other = "b" if token[place] == "a" else "a"
        assert tokens.read(f"{token[:place]}{other}{token[place + 1 :]}@bounces.example") is None
    for address in ("", "@", token, f"{token}a@x", f"{token[:-1]}@x", "bounces@mail.example", f"{token}@x y"):
        assert tokens.read(address) is None


async def test_a_message_that_is_no_attempt_shares_an_address() -> None:
    tokens = await _tokens()
    assert _path(tokens, bounce_address="bounces@mail.example").of(None) == "bounces@mail.example"
    assert _path(tokens, return_path_domain="bounces.example").of(None) is None
    assert _path(tokens).of(ATTEMPT) is None
    assert _path(tokens, envelope_sender="b@mail.example").of(ATTEMPT) == "b@mail.example"
    assert _path(None, bounce_address="bounces@mail.example").of(ATTEMPT) == "bounces@mail.example"


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"bounce_address": "no address"}, "bounce_address"),
        ({"bounce_address": "sixteen-letters.@mail.example"}, "bounce_address"),
        ({"bounce_address": "more-than-fifteen@mail.example"}, "bounce_address"),
        ({"bounce_address": "a+b@mail.example"}, "bounce_address"),
        ({"bounce_address": "bücher@mail.example"}, "bounce_address"),
        ({"return_path_domain": "..example"}, "return_path_domain"),
        ({"bounce_address": "b@mail.example", "return_path_domain": "x.example"}, "bounce_address"),
        ({"return_path_domain": "x.example", "envelope_sender": "a@x.example"}, "return_path_domain"),
    ],
)
async def test_what_can_be_no_return_path_is_refused(settings: dict[str, str], field: str) -> None:
    with pytest.raises(BadValueError) as refused:
        _path(await _tokens(), **settings)
    assert refused.value.field == field
