"""The page on adding an endpoint, run."""

import re
from pathlib import Path
from typing import Any

from tests.support.router_app import calling, router_app
from tidings.kernel.clock import SystemClock
from tidings.kernel.parts import Parts

PAGE = Path(__file__).parents[4] / "docs" / "adding-an-endpoint.md"
HOME = "tnt_01JCQ4Z9X8W7V6T5S4R3Q2P1N0"


async def test_the_page_works_as_it_stands() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": "notes_page"}
    exec(compile(code, str(PAGE), "exec"), names)
    app = router_app(names["notes"], clock=SystemClock(), parts=Parts(names["Notes"]()))

    async with calling(app, HOME) as client:
        first = await client.put("/api/v1/notes/door", json={"text": "knock"})
        blind = await client.put("/api/v1/notes/door", json={"text": "ring"})
        second = await client.put(
            "/api/v1/notes/door", json={"text": "ring"}, headers={"If-Match": first.headers["etag"]}
        )

    assert (first.status_code, first.headers["etag"]) == (200, '"v1"')
    assert blind.json()["code"] == "precondition_required"
    assert second.json() == {"text": "ring", "written_by": "key_tenant"}
    described = app.openapi["paths"]["/api/v1/notes/{name}"]["put"]
    assert described["description"] == "What stands after the first line is the description."
