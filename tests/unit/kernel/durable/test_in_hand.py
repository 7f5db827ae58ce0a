"""What a process deals with is counted, so that two who hold the same thing don't let go of it for each other."""

from tidings.kernel.durable.in_hand import InHand


def test_what_is_held_twice_is_let_go_twice() -> None:
    """And nothing else is touched."""
    hands = InHand()
    hands.take(["a", "b"])

    with hands.holding(["a", "c"]):
        assert sorted(hands.ids()) == ["a", "b", "c"]

    assert sorted(hands.ids()) == ["a", "b"]
    hands.drop(["a", "b", "never"])
    assert hands.ids() == []
