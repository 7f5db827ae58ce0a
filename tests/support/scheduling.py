"""Which tests stay together on one worker: those of one `xdist_group`.

pytest-xdist 3.8 tells its controller the groups by changing the ids of tests, which pytest 9.2 takes no notice of:
every test then goes anywhere, and what a file shares is made by each worker. So the workers write the groups down.
"""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # it has no types


def write_groups(items: list[pytest.Item]) -> None:
    """By a worker, when it has collected; all collect the same."""
    marked = {item.nodeid: item.get_closest_marker("xdist_group") for item in items}
    groups = {nodeid: mark.args[0] for nodeid, mark in marked.items() if mark is not None}
    draft = _file().with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(groups))
    draft.replace(_file())


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # nor has its class
    """Gives every worker one group after the other: every second one from the end of the collection.

    The tests at its beginning wait for processes and time-outs, those at its end compute: so both are under way at once.
    """

    _groups: dict[str, str] | None = None

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        if self._groups is None:
            self._groups = json.loads(_file().read_text())
        return self._groups.get(nodeid, nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        if self.nodes.index(node) % 2:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Forget the test, too: what is left is counted after each one."""
        super().mark_test_complete(node, item_index, duration)
        nodeid = self.registered_collections[node][item_index]
        group = self._split_scope(nodeid)
        unit = self.assigned_work[node][group]
        del unit[nodeid]
        if not unit:
            del self.assigned_work[node][group]


def _file() -> Path:
    """In the folder of the run, which is the workers', too."""
    return Path(tempfile.gettempdir()) / "groups.json"
