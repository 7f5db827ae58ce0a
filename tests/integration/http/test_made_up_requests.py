"""Requests made up from the OpenAPI document: no answer is a 500, and every answer is as documented.

A few for each operation here; `make fuzz` sends more, with every case at a boundary, from other seeds.
"""

import os

import pytest

from tests.support.openapi_fuzz import EVERYBODY, Who, make_up, served
from tests.support.postgres import TestServer

_MOST = int(os.environ.get("FUZZ_MOST", "0"))
_A_FEW = 3
_SEED = int(os.environ.get("FUZZ_SEED", "7"))


@pytest.mark.parametrize("who", EVERYBODY if _MOST else EVERYBODY[:2])
def test_every_operation_answers_made_up_requests_as_documented(server: TestServer, who: Who) -> None:
    with served(server) as to:
        report = make_up(to, who, most=_MOST or _A_FEW, seed=_SEED, thorough=bool(_MOST))

    print(f"{who}: {report}")  # noqa: T201  # what `make fuzz` is run for
    assert report.errors == []
    assert report.cases > 30
    assert [status for status in report.statuses if status >= 500 or status == 0] == []
    assert [f"{one.check}: {one.operation} → {one.status}" for one in report.unargued()] == []
