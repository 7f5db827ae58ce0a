"""What adapters bring along can be written into the status map, and found there by whoever asks for it."""

from collections import Counter

import msgspec
import pytest

from tidings.router.adapters.kind import AdapterKind
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.status_map.model import MAPPED
from tidings.router.status_map.wire import PutStatusLine, adapter_in_path, code_in_path

KINDS = [kind for _, kind in sorted(ADAPTERS.items()) if kind.statuses]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_every_seed_is_a_line_that_somebody_could_have_written(kind: AdapterKind) -> None:
    for one in kind.statuses:
        assert adapter_in_path(kind.name) == kind.name
        assert code_in_path(one.code.replace("/", "~")) == one.code
        assert one.canonical in MAPPED, one
        msgspec.convert({"canonical": one.canonical, "reason": one.reason}, PutStatusLine)
    assert [code for code, many in Counter(one.code for one in kind.statuses).items() if many > 1] == []
