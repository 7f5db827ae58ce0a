"""The OpenAPI document says what the routes do: their methods, the headers they ask for, the pages they may answer."""

import re

from tests.support.http import HttpWorld


async def test_every_path_names_its_own_methods(world: HttpWorld) -> None:
    """Also where a word stands in the place of an id: `notifications/simulate` beside `notifications/{id}`."""
    wrong: dict[str, str] = {}
    async with world.client() as client:
        for path, methods in world.app.openapi["paths"].items():
            concrete = re.sub(r"\{\w+\}", "some-thing", path)
            answer = await client.request("TRACE", concrete)
            wanted = {method.upper() for method in methods} | {"OPTIONS"}
            wanted |= {"HEAD"} if "GET" in wanted else set()
            if (answer.status_code, set(answer.headers.get("allow", "").split(", "))) != (405, wanted):
                wrong[path] = f"{answer.status_code} {answer.headers.get('allow')}"

    assert wrong == {}


def _header(world: HttpWorld, method: str, path: str) -> dict[str, object]:
    [found] = [
        parameter
        for parameter in world.app.openapi["paths"][path][method]["parameters"]
        if parameter["name"] == "If-Match"
    ]
    return dict(found)


_IF_MATCH = [
    ("put", "/api/v1/channels/{channel}", False, "where there is something to change"),
    ("put", "/api/v1/router/status-map/{adapter}/{code}", False, "where there is something to change"),
    ("put", "/api/v1/router/weights/{channel}", False, "where there is something to change"),
    ("put", "/api/v1/layouts/{name}", False, "where there is something to change"),
    ("delete", "/api/v1/router/policies/{policy_id}", False, "May be left out"),
    ("delete", "/api/v1/layouts/{name}", True, "made from."),
    ("put", "/api/v1/branding", True, "made from."),
]


async def test_the_document_asks_for_if_match_where_the_route_does(world: HttpWorld) -> None:
    for method, path, required, said in _IF_MATCH:
        header = _header(world, method, path)
        assert header["required"] is required, path
        assert said in str(header["description"]), path


async def test_if_match_where_there_is_nothing_yet_is_refused(world: HttpWorld) -> None:
    """A layout that is not there has no version, of whatever form it is named."""
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as client:
        body = {"text": "<mjml><mj-body>{{{body}}}</mj-body></mjml>"}
        for named in ('"v1"', "*", "no etag"):
            answer = await client.put("/api/v1/layouts/plain", json=body, headers={"If-Match": named})
            assert answer.status_code == 412, answer.text
        listed = await client.get("/api/v1/layouts")

    assert listed.json()["items"] == []


async def test_the_pages_for_people_say_what_else_they_answer(world: HttpWorld) -> None:
    paths = world.app.openapi["paths"]

    portal = [path for path in paths if path.startswith("/portal/")]
    assert portal
    for path in ("/u/{token}", "/p/{token}", "/c/{token}", *portal):
        for method in paths[path].values():
            assert {"404", "410", "429", "503"} <= set(method["responses"])
            assert "text/html" in method["responses"]["404"]["content"]
    assert "404" in paths["/t/o/{name}"]["get"]["responses"]
    assert "404" in paths["/t/c/{token}"]["get"]["responses"]
