"""Which route a path has."""

import pytest

from tidings.kernel.http.routing import RouteTable, names_in


def table(*templates: str) -> RouteTable[str]:
    routes: RouteTable[str] = RouteTable()
    for template in templates:
        routes.add("GET", template, template)
    return routes


@pytest.mark.parametrize(
    ("path", "template", "values"),
    [
        ("/", "/", []),
        ("/things", "/things", []),
        ("/things/lookup", "/things/lookup", []),
        ("/things/a1", "/things/{thing_id}", ["a1"]),
        ("/things/a1/parts/b2", "/things/{thing_id}/parts/{part_id}", ["a1", "b2"]),
        # A word that leads nowhere is taken for a value.
        ("/things/lookup/parts/b2", "/things/{thing_id}/parts/{part_id}", ["lookup", "b2"]),
    ],
)
def test_a_word_goes_before_a_value(path: str, template: str, values: list[str]) -> None:
    routes = table(
        "/", "/things", "/things/lookup", "/things/{thing_id}", "/things/{thing_id}/parts/{part_id}"
    )
    assert routes.find(path) == ({"GET": template}, values)


@pytest.mark.parametrize("path", ["/other", "/things/a1/parts", "/things//parts/b2", "/things/a1/b2/c3/d4"])
def test_a_path_without_a_route_has_none(path: str) -> None:
    assert table("/things/{thing_id}", "/things/{thing_id}/parts/{part_id}").find(path) == ({}, [])


def test_a_route_is_declared_once() -> None:
    with pytest.raises(TypeError, match=r"GET /things/\{other\} is declared twice"):
        table("/things/{thing_id}", "/things/{other}")


def test_the_names_of_values() -> None:
    assert names_in("/things/{thing_id}/parts/{part_id}") == ["thing_id", "part_id"]
