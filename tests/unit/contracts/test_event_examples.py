"""Every type of event has an example that its own form reads."""

import msgspec
import pytest

from tidings.contracts.event_examples import example_of
from tidings.contracts.events import EVENTS


@pytest.mark.parametrize("subject", sorted(EVENTS))
def test_an_example_is_what_its_event_may_say(subject: str) -> None:
    example = example_of(subject)

    read = msgspec.json.decode(msgspec.json.encode(example), type=EVENTS[subject])

    assert example
    # Everything that the example says is read: no field has a name of its own.
    assert example.keys() <= set(read.__struct_fields__)


def test_an_example_says_what_its_subject_says() -> None:
    delivered = example_of("notification.delivered.v1")

    assert delivered["status"] == "delivered"
    assert str(delivered["notification_id"]).startswith("ntf_")


def test_there_is_none_of_what_is_no_event() -> None:
    with pytest.raises(KeyError):
        example_of("notification.dreamt.v1")
