"""Which script a message is in for."""

import pytest

from tidings.kernel.errors import BadValueError
from tidings.kernel.refusals import NotFoundError
from tidings.sandbox.scripts import MAGIC, NAMES, ReceiptScripts, ScriptedReceipt, ScriptSpec, named


def told(text: str) -> list[tuple[str, float]]:
    return [(beat.status, beat.after_seconds) for beat in named(text).beats]


def script_of(scripts: ReceiptScripts, **changes: str) -> str:
    given = {"vendor": "http_x", "channel": "sms", "to": "+93700123456", **changes}
    return scripts.strike(vendor=given["vendor"], channel=given["channel"], addresses=(given["to"],)).name


def test_names_say_what_is_told_and_when() -> None:
    """Those that the documentation lists."""
    assert told("delivered") == [("sent", 0.1), ("delivered", 0.3)]
    assert told("delivered_after:5") == [("delivered", 5)]
    assert told("late:60") == [("sent", 0.1), ("delivered", 60)]
    assert told("read")[-1] == ("read", 1)
    assert told("never") == []
    assert told("unreachable") == [("rejected", 0.2)]
    assert [status for status, _ in told("out_of_order")] == ["delivered", "sent"]
    assert [beat.repeat for beat in named("repeated").beats] == [2, 2]
    assert named("rejected").refuses
    assert not named("never").refuses
    assert all(named(name.replace("SECONDS", "1")).name for name in NAMES)


@pytest.mark.parametrize(
    "text", ["", "always", "late", "late:", "late:soon", "late:-1", "late:nan", "late:1e9", "never:5"]
)
def test_other_names_are_refused_with_those_that_there_are(text: str) -> None:
    """By the field."""
    with pytest.raises(BadValueError, match=r"^script.*delivered_after:SECONDS"):
        named(text)


def test_what_is_told_most_exactly_wins() -> None:
    """An address before the vendor, the vendor before the channel, and a number of ours before both."""
    scripts = ReceiptScripts()
    seen = [script_of(scripts)]
    for name, script in [("sms", "never"), ("HTTP_X", "read"), ("+93700123456", "failed")]:
        scripts.set(name, ScriptSpec(script=script))
        seen.append(script_of(scripts))

    assert seen == ["delivered", "never", "read", "failed"]
    assert script_of(scripts, vendor="other", to="somebody") == "never"
    assert script_of(scripts, vendor="other", to="somebody", channel="viber") == "delivered"
    assert script_of(scripts, to="+15005550108") == "unreachable"
    assert len(MAGIC) == len(set(MAGIC.values()))


def test_a_script_by_hand_and_its_end() -> None:
    """Receipts may be listed; a count is used up, the rest is ended by hand."""
    scripts = ReceiptScripts()
    beat = ScriptedReceipt(status="bounced", after_seconds=2, code="5.1.1")
    scripts.set("sms", ScriptSpec(script=[beat], count=2))
    scripts.set("viber", ScriptSpec(script="never"))

    first = scripts.strike(vendor="v", channel="sms", addresses=())
    left = scripts.standing()["sms"].count
    seen = [script_of(scripts) for _ in range(2)]
    scripts.end("viber")

    assert first.beats == (beat,)
    assert left == 1
    assert seen == ["by hand", "delivered"]
    assert scripts.standing() == {}
    with pytest.raises(NotFoundError):
        scripts.end("viber")


@pytest.mark.parametrize("name", ["", "x" * 321, "a\nb"])
def test_what_has_no_name_has_no_script(name: str) -> None:
    """It would never be found."""
    with pytest.raises(BadValueError, match="name"):
        ReceiptScripts().set(name, ScriptSpec(script="never"))
