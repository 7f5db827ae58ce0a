"""What a simulation says: step by step, when, by whom, at what cost, and how it would end."""

from typing import Any

from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.marks import (
    Tone,
    badge,
    code,
    facts,
    moment,
    money,
    note,
    said,
    section,
    timeline,
)
from tidings.backoffice.console.visits import Visit

Row = dict[str, Any]


def outcome(visit: Visit, found: Row | None, wrong: Child = None) -> Html:
    """The answer, or what is wrong, or what to do for one."""
    words = visit.words
    if found is None:
        return section(
            words["policies.outcome"],
            wrong or el("p", words["policies.no_outcome"], class_="soft"),
            id_="outcome",
        )
    tone: Tone = {"send": "good", "defer": "warn"}.get(found["would"], "bad")  # type: ignore[assignment]
    head = join(
        badge(words[f"policies.would.{found['would']}"], tone),
        reason_of(visit, found["reason"]) if found["reason"] else None,
        moment(found["until"], exact=True) if found["until"] else None,
        between=" ",
    )
    entries = [_step(visit, one) for one in found["steps"]]
    end = found["if_nothing_answers"]
    currency = found["currency"] or "USD"
    cap = found["cost_cap_micros"]
    summary = facts(
        (
            words["policies.silent_end"],
            join(
                badge(end["result"] or words["policies.not_handed"]),
                reason_of(visit, end["reason"]) if end["reason"] else None,
                moment(end["at"], exact=True),
                between=" ",
            ),
        ),
        (words["policies.spent"], money(words, end["spent_micros"], currency)),
        (words["policies.worst"], money(words, found["worst_case_micros"], currency)),
        (words["policies.cap"], money(words, cap, currency) if cap is not None else words["policies.no_cap"]),
        (words["policies.priority"], code(found["priority"])),
    )
    warnings = warnings_of(found["warnings"])
    return section(
        words["policies.outcome"],
        el("p", head),
        timeline(entries),
        summary,
        warnings,
        el("p", words["policies.nothing_sent"], class_="hint"),
        id_="outcome",
    )


def warnings_of(warnings: list[Row]) -> Child:
    """What is allowed, and perhaps not meant."""
    return [note(code(one["field"]), " ", said(one["text"])) for one in warnings]


def reason_of(visit: Visit, reason: str) -> Html:
    """A code, in words where we have them."""
    return el("span", visit.words.get(f"policies.reason.{reason}", reason.replace("_", " ")), title=reason)


def _step(visit: Visit, one: Row) -> tuple[Child, Child, Tone]:
    words = visit.words
    tone: Tone = {"call": "good", "skip": "warn"}.get(one["would"], "off")  # type: ignore[assignment]
    when: Child = el("span", words["policies.not_reached"])
    if one["begins_at"]:
        when = join(moment(one["begins_at"], exact=True), " → ", moment(one["ends_at"], exact=True))
    cost = None
    if one["cost_micros"] is not None and one["cost_currency"]:
        cost = el(
            "span", money(words, one["cost_micros"], one["cost_currency"]), " ", words["policies.a_call"]
        )
    chance = None
    if one["chance"] is not None:
        chance = el("span", words["policies.chance"].replace("{chance}", f"{one['chance']:.0%}"))
    what = join(
        el("strong", words.channel(one["channel"])),
        badge(words[f"policies.step.{one['would']}"], tone),
        code(one["vendor"]) if one["vendor"] else None,
        reason_of(visit, one["reason"]) if one["reason"] else None,
        cost,
        chance,
        between=" ",
    )
    return when, what, tone
