"""When another service suppressed an address is kept, and a date that is no date costs nobody their suppression."""

import csv
import io
from typing import Any

import pytest

from tests.support.people import PeopleWorld
from tidings.kernel.ids import TenantId

SUPPRESSIONS = "/api/v1/suppressions"
CSV, LINES = {"Content-Type": "text/csv"}, {"Content-Type": "application/x-ndjson"}
THEN = "2020-11-13T10:00:00Z"

LISTS = [
    ("email,created\na@example.test,1605261600\n", {}),
    ("status,reason,email,created\n5.1.1,unknown,a@example.test,1605261600\n", {}),
    ('address,code,error,created_at\na@example.test,550,no,"Fri, 13 Nov 2020 10:00:00 UTC"\n', {}),
    ('address,tags,created_at\na@example.test,*,"Fri, 13 Nov 2020 11:30:00 +0130"\n', {}),
    ("EmailAddress,SuppressionReason,Origin,CreatedAt\n"
     "a@example.test,HardBounce,Recipient,2020-11-13T05:00:00.0000000-05:00\n", {}),
    ("EmailAddress,Reason,LastUpdateTime\na@example.test,BOUNCE,2020-11-13T10:00:00+00:00\n", {}),
    ("address;reason;date\na@example.test;manual;2020-11-13 10:00:00\n", {}),
    ("E-Mail,Wann\na@example.test,1605261600000\n", {"mapping": "address:E-Mail,date:Wann"}),
]  # fmt: skip


async def send(world: PeopleWorld, tenant_id: TenantId, text: str | bytes, **query: str) -> Any:
    async with world.http.as_tenant(tenant_id) as client:
        done = await client.post(f"{SUPPRESSIONS}/import", content=text, headers=CSV, params=query)
    assert done.status_code == 200, done.text
    return done.json()


async def listed(world: PeopleWorld, tenant_id: TenantId) -> list[dict[str, Any]]:
    async with world.http.as_tenant(tenant_id) as client:
        found: list[dict[str, Any]] = (await client.get(SUPPRESSIONS)).json()["items"]
    return found


@pytest.mark.parametrize(("text", "query"), LISTS)
async def test_each_service_has_its_own_way_to_write_a_date(
    world: PeopleWorld, text: str, query: dict[str, str]
) -> None:
    tenant = await world.tenant()

    done = await send(world, tenant.id, text, **query)
    [shown] = await listed(world, tenant.id)

    assert (done["added"], done["warnings"]) == (1, 0)
    assert shown["occurred_at"] == THEN
    assert shown["created_at"] > "2021"


async def test_history_and_export_show_it_and_it_goes_in_again(world: PeopleWorld) -> None:
    tenant, other = await world.tenant(), await world.tenant()
    await send(world, tenant.id, "email,created\na@example.test,1605261600\nb@example.test,\n")
    by_reach = {item["occurred_at"]: item for item in await listed(world, tenant.id)}
    dated = by_reach.pop(THEN)
    [(since, undated)] = by_reach.items()

    async with world.http.as_tenant(tenant.id) as client:
        history = (await client.get(f"{SUPPRESSIONS}/{dated['id']}/history")).json()["items"]
        plain = (await client.get(f"{SUPPRESSIONS}/{undated['id']}/history")).json()["items"]
        export = await client.get(f"{SUPPRESSIONS}/export", params={"reveal": "true"})
    back = await send(world, other.id, export.content)

    assert [(item["what"], item["at"]) for item in history] == [
        ("occurred", THEN),
        ("added", dated["created_at"]),
    ]
    assert since == undated["created_at"]
    assert [item["what"] for item in plain] == ["added"]
    kept = {row["address"]: row["occurred_at"] for row in csv.DictReader(io.StringIO(export.text))}
    assert kept["a@example.test"] == "2020-11-13T10:00:00+00:00"
    assert (back["added"], back["problems"]) == (2, 0)
    assert {item["occurred_at"] for item in await listed(world, other.id)} == {THEN, since}


async def test_a_bad_date_is_a_warning_and_no_refusal(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    bad = [
        "secret-words", "4102444800", "999999999999", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00",
        "1605261600, but later", "١٦٠٥",
    ]  # fmt: skip
    text = "email,created\n" + "".join(f'p{n}@example.test,"{date}"\n' for n, date in enumerate(bad))

    done = await send(world, tenant.id, text + "nobody,secret-words\n")
    async with world.http.as_tenant(tenant.id) as client:
        report = await client.get(done["links"]["report"])

    assert (done["added"], done["refused"], done["problems"], done["warnings"]) == (7, 1, 8, 7)
    assert [(p["line"], p["column"], p["code"], p["severity"]) for p in done["first_problems"]] == [
        (2, "created", "bad_date", "warning"),
        (3, "created", "future_date", "warning"),
        (4, "created", "bad_date", "warning"),
        (5, "created", "bad_date", "warning"),
        (6, "created", "bad_date", "warning"),
        (7, "created", "bad_date", "warning"),
        (8, "created", "bad_date", "warning"),
        (9, "email", "bad_address", "error"),
    ]
    assert report.text.splitlines()[1].endswith(",warning")
    assert "secret" not in report.text
    assert {item["occurred_at"] == item["created_at"] for item in await listed(world, tenant.id)} == {True}


async def test_json_lines_have_a_date_too_and_the_first_line_of_an_address_stays(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    text = (
        '{"address": "a@example.test", "date": 1605261600}\n'
        '{"address": "a@example.test", "date": "2021-01-01"}\n'
        '{"address": "b@example.test", "date": {"secret": 1}}\n'
    )

    async with world.http.as_tenant(tenant.id) as client:
        done = (await client.post(f"{SUPPRESSIONS}/import", content=text, headers=LINES)).json()
    again = await send(world, tenant.id, "email,created\na@example.test,1\n")

    assert (done["added"], done["unchanged"], done["warnings"]) == (2, 1, 1)
    assert again["unchanged"] == 1
    assert THEN in {item["occurred_at"] for item in await listed(world, tenant.id)}
