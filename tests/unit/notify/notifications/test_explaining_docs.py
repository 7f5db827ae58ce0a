"""The page about explaining shows what the API answers."""

import json
import re
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from tests.support.traces import after, appointment, delivery_trace, notification
from tidings.contracts.enums import NotificationStatus
from tidings.notify.decide.model import Gate
from tidings.notify.notifications.explain_view import (
    ExplainedPolicy,
    ExplainedPreferences,
    ExplainedTemplate,
    ExplainView,
    GateView,
)
from tidings.notify.notifications.messages_en import PASSED
from tidings.notify.notifications.progress import next_of, summary
from tidings.notify.notifications.timeline import timeline

PAGE = (Path(__file__).parents[4] / "docs" / "explaining.md").read_text(encoding="utf-8")
EXAMPLE = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])


def fields(kind: type) -> set[str]:
    return {field.encode_name for field in structs.fields(kind)}


def test_the_example_has_the_fields_of_the_answer() -> None:
    assert set(EXAMPLE) == fields(ExplainView)
    assert set(EXAMPLE["decision"][0]) == fields(GateView)
    assert set(EXAMPLE["template"]) == fields(ExplainedTemplate)
    assert set(EXAMPLE["preferences"]) == fields(ExplainedPreferences)
    assert set(EXAMPLE["policy"]) == fields(ExplainedPolicy)


def test_the_example_says_what_the_code_says() -> None:
    due = after(18.5 * 3600)
    told = delivery_trace(
        notification(NotificationStatus.SCHEDULED, trace=f"t+;e+;r+;c+;q~quiet_hours@{int(due.timestamp())}"),
        waits=(appointment("quiet_hours", made=0.02, due=18.5 * 3600),),
    )
    told = replace(told, zone=EXAMPLE["preferences"]["now"]["timezone"])
    comes = next_of(told, after(1))

    assert EXAMPLE["summary"] == summary(told, after(1))
    assert comes is not None
    assert EXAMPLE["next"]["text"] == comes.text
    assert [line["text"] for line in EXAMPLE["timeline"]] == [one.text for one in timeline(told)]


def test_every_gate_has_a_sentence_for_those_who_pass() -> None:
    assert set(PASSED) == set(Gate)
