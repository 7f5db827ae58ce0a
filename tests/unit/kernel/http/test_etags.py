"""A change is made from the version it names, or not at all."""

import pytest

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.errors import PreconditionRequiredError
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.refusals import StaleVersionError


def scope(*values: str) -> dict[str, list[tuple[bytes, bytes]]]:
    return {"headers": [(b"if-match", value.encode("latin-1")) for value in values]}


@pytest.mark.parametrize("given", ['"v3"', "*", '"v2", "v3"', ' "v3" '])
def test_the_current_version_passes(given: str) -> None:
    expect_version(scope(given), 3)


@pytest.mark.parametrize("given", ['"v2"', '"3"', 'W/"v3"', '"v33"', '""'])
def test_another_version_does_not(given: str) -> None:
    with pytest.raises(StaleVersionError):
        expect_version(scope(given), 3)


@pytest.mark.parametrize("given", ["v3", '"v3', "v3,", '"v3" "v4"', "\xff"])
def test_what_is_no_etag_is_refused_by_name(given: str) -> None:
    with pytest.raises(BadValueError) as refused:
        expect_version(scope(given), 3)

    assert refused.value.field == "If-Match"


def test_a_change_without_a_version_needs_one() -> None:
    with pytest.raises(PreconditionRequiredError):
        expect_version(scope(), 3)

    expect_version(scope(), 3, required=False)


def test_an_etag_is_strong() -> None:
    assert etag(7) == '"v7"'
