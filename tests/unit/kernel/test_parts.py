"""Parts by their types: registered, made of others, or missing with a sentence that says which."""

from typing import Protocol

import pytest

from tidings.kernel.parts import MissingPartError, Parts


class Store:
    """A part without needs."""


class Speaks(Protocol):
    def speak(self) -> str: ...


class Dog:
    def speak(self) -> str:
        return "woof"


class Keeper:
    """A part that needs two others."""

    def __init__(self, store: Store, *, pet: Speaks, limit: int = 3) -> None:
        self.store = store
        self.pet = pet
        self.limit = limit


class Circle:
    def __init__(self, circle: "Circle") -> None:
        self.circle = circle


def test_a_registered_part_is_given_out() -> None:
    store = Store()
    assert Parts(store).get(Store) is store


def test_a_class_is_made_of_registered_parts_once() -> None:
    store, dog = Store(), Dog()
    parts = Parts(store).add(Speaks, dog)
    keeper = parts.get(Keeper)
    assert (keeper.store, keeper.pet, keeper.limit) == (store, dog, 3)
    assert parts.get(Keeper) is keeper


def test_a_part_that_is_missing_is_named_with_what_needs_it() -> None:
    with pytest.raises(MissingPartError, match=r"no part is a Speaks, which Keeper needs"):
        Parts(Store()).get(Keeper)


def test_a_part_that_needs_itself_is_refused() -> None:
    with pytest.raises(MissingPartError, match="Circle"):
        Parts().get(Circle)


def test_a_late_part_is_asked_for_at_each_use() -> None:
    made: list[Store] = []

    def make() -> Store:
        made.append(Store())
        return made[-1]

    late = Parts().add_late(Store, make).late(Store)
    assert late is not None
    assert made == []
    assert late() is made[0]
    assert late() is made[1]


def test_what_is_given_by_name_goes_with_the_parts_and_the_part_is_registered() -> None:
    parts = Parts(Store()).add(Speaks, Dog())
    keeper = parts.get(Keeper, limit=7)
    assert (keeper.limit, parts.get(Keeper)) == (7, keeper)
    with pytest.raises(TypeError, match="Keeper was made before"):
        parts.get(Keeper, limit=8)


def test_a_further_object_is_not_registered() -> None:
    parts = Parts(Store()).add(Speaks, Dog())
    assert parts.make(Keeper) is not parts.get(Keeper)


def test_a_class_that_stands_on_no_part_has_to_be_registered() -> None:
    with pytest.raises(MissingPartError, match="no part is a Dog"):
        Parts(Store()).get(Dog)
