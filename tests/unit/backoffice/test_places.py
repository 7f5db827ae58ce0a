"""Keys of the navigation lead to one place each."""

from collections import Counter

from tidings.backoffice.console.places import PLACES


def test_keys_lead_to_one_place_and_places_have_one_address() -> None:
    for told in ("keys", "path", "key"):
        counted = Counter(getattr(one, told) for one in PLACES if getattr(one, told))
        assert [value for value, times in counted.items() if times > 1] == []
