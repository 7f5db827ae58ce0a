"""Tokens of pixels and links: whatever we did not write ourselves is none."""

from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from tidings.contracts.ids import NOTIFICATION, RECIPIENT
from tidings.kernel.ids import TENANT
from tidings.kernel.keys.pepper import Pepper
from tidings.notify.tracking.tokens import MOST_TARGET, Kind, Mark, Marker

_AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
MARKER = Marker(Pepper(b"p" * 32))
TARGET = "https://shop.example/a?b=1&c=ش#d"


def mark(kind: Kind = "clicked", target: str = TARGET, step: int = 1) -> Mark:
    return Mark(
        kind=kind,
        tenant_id=TENANT.new(_AT),
        notification_id=NOTIFICATION.new(_AT),
        recipient_id=RECIPIENT.new(_AT),
        step=step,
        target=target,
    )


@given(st.text(max_size=MOST_TARGET // 4), st.integers(1, 255))
@example("ü" * (MOST_TARGET // 2), 1)
def test_what_is_written_is_read_back(target: str, step: int) -> None:
    written = mark(target=target, step=step)

    assert MARKER.read(MARKER.write(written)) == written


def test_a_pixel_is_short_and_names_nobody() -> None:
    token = MARKER.write(mark("opened", ""))

    assert len(token) == 88
    assert MARKER.read(token) is not None
    assert MARKER.read(token[:-4]) is None


def test_one_changed_letter_makes_it_worthless() -> None:
    token = MARKER.write(mark())

    for place in range(len(token) - 1):
        letter = "A" if token[place] != "A" else "B"
        assert MARKER.read(token[:place] + letter + token[place + 1 :]) is None


@given(st.one_of(st.text(max_size=200), st.text("abcXYZ019-_", min_size=88, max_size=300)))
def test_nonsense_is_no_token(text: str) -> None:
    assert MARKER.read(text) is None


def test_another_platforms_token_is_none_of_ours() -> None:
    assert Marker(Pepper(b"q" * 32)).read(MARKER.write(mark())) is None
    assert "***" in repr(MARKER)
