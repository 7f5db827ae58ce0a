"""The editor of a ladder: steps to fill in and to move, what applies to all of them, a picture, and the simulator beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tidings.backoffice.console.channels.names import channel_options
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    confirm,
    field_row,
    hidden,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import badge, said, section
from tidings.backoffice.console.policies.draft import MOST_STEPS, count_of, has_conditions
from tidings.backoffice.console.policies.outcome import outcome, warnings_of
from tidings.backoffice.console.policies.picture import picture
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE: Final = "/console/policies"
USE_CASES: Final = ("otp", "txn", "alert", "conversational", "marketing")
_STRATEGIES: Final = ("SEQUENTIAL", "PARALLEL", "FAILOVER")
_ORDERS: Final = ("fixed", "learned", "cheapest")
_SUCCESSES: Final = ("delivered", "read", "sent", "accepted")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    """A policy before somebody's eyes, saved or not."""

    #: None: it is not made yet.
    policy_id: str | None
    fields: Mapping[str, str]
    etag: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[Row] = ()
    #: What a simulation said.
    rehearsal: Row | None = None
    vendors: Sequence[str] = ()
    templates: Sequence[str] = ()
    #: The step that has just been moved: it keeps the focus.
    moved: int | None = None

    @property
    def path(self) -> str:
        """Where its form goes."""
        return f"{HERE}/{self.policy_id or 'new'}"


def editor_page(visit: Visit, editor: Editor, *, told: Told | None = None, status: int = 200) -> Reply:
    """All of it; for readers the picture and the simulator alone."""
    words = visit.words
    may_write = visit.may("router:write")
    name = words.get(f"policies.use_case.{editor.fields.get('use_case', '')}", words["policies.title"])
    side = el(
        "div",
        picture(words, editor.fields),
        _simulator(visit, editor),
        outcome(visit, editor.rehearsal, _wrong(editor)),
    )
    parts: list[Child] = [warnings_of(list(editor.warnings))]
    inside: list[Child] = [hidden("etag", editor.etag), hidden("steps", str(count_of(editor.fields)))]
    # What Enter does in a field: draw it anew, and save nothing.
    inside.append(button(words["policies.redraw"], "unseen", name="do", value="refresh", tabindex="-1"))
    if may_write:
        inside += [hidden("use_case", editor.fields.get("use_case", ""))]
        inside.append(
            el("div", el("div", _steps(visit, editor), _terms(visit, editor)), side, class_="split")
        )
    else:
        inside += [hidden(key, value) for key, value in editor.fields.items() if key != "steps"]
        inside.append(side)
    parts.append(
        post_form(
            visit.reader,
            editor.path,
            inside,
            data_preview=f"{HERE}/preview",
            data_targets="picture outcome",
            data_guard=may_write,
        )
    )
    if may_write and editor.policy_id is not None:
        parts.append(_remove(visit, editor.policy_id))
    actions = None
    if editor.policy_id is not None:
        actions = link_button(words["policies.versions"], f"{editor.path}/versions", "quiet")
    return page(
        words,
        name,
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["policies.title"], HERE)],
        actions=actions,
        told=told,
        wide=True,
        status=status,
    )


def _wrong(editor: Editor) -> Child:
    if not editor.faults:
        return None
    listed = [el("li", el("code", name, dir="ltr"), " ", said(text)) for name, text in editor.faults.items()]
    return el("div", el("ul", listed), class_="note bad")


def _steps(visit: Visit, editor: Editor) -> Html:
    words = visit.words
    count = count_of(editor.fields)
    add = button(words["policies.add"], "quiet", name="do", value="add") if count < MOST_STEPS else None
    return section(
        words["policies.steps"],
        el("p", words["policies.keys"], class_="hint script"),
        [_step(visit, editor, place, count) for place in range(count)],
        el("div", add, button(words["save"], name="do", value="save"), class_="actions"),
        id_="steps-of",
    )


def _step(visit: Visit, editor: Editor, place: int, count: int) -> Html:
    words, fields = visit.words, editor.fields

    def value(name: str) -> str:
        return fields.get(f"s{place}.{name}", "")

    def text(name: str, **attributes: Any) -> Html:
        return text_field(
            f"s{place}.{name}",
            words[f"policies.field.{name}"],
            value(name),
            error=editor.faults.get(f"s{place}.{name}"),
            dir="ltr",
            **attributes,
        )

    def choice(name: str, options: Sequence[tuple[str, str]], **attributes: Any) -> Html:
        return select_field(
            f"s{place}.{name}",
            words[f"policies.field.{name}"],
            options,
            value(name),
            error=editor.faults.get(f"s{place}.{name}"),
            **attributes,
        )

    label = words["policies.step_number"].replace("{number}", str(place + 1))
    moves = el(
        "div",
        _move(words["policies.up"], "↑", f"up-{place}", label, off=place == 0),
        _move(words["policies.down"], "↓", f"down-{place}", label, off=place == count - 1),
        _move(words["policies.remove_step"], "✕", f"remove-{place}", label, off=count == 1),
        class_="actions",
    )
    successes = [(one, words[f"policies.success.{one}"]) for one in _SUCCESSES]
    first = field_row(
        choice("channel", channel_options(words), autofocus=editor.moved == place),
        text("deadline", inputmode="numeric", required=True),
        text("retries", inputmode="numeric"),
        choice("success", successes),
    )
    any_reach = [
        ("", words["any"]),
        *((one, words[f"policies.reach.{one}"]) for one in ("not_known_no", "known_yes")),
    ]
    any_online = [("", words["any"]), *((one, words[f"policies.online.{one}"]) for one in ("true", "false"))]
    is_special = has_conditions(fields, place) or bool(value("vendor") or value("call"))
    conditions = el(
        "details",
        el("summary", words["policies.conditions"], join(" ", badge("✓", "info")) if is_special else None),
        field_row(
            choice(
                "vendor", [("", words["policies.usual_vendor"]), *_named(editor.vendors, value("vendor"))]
            ),
            text("call", inputmode="decimal"),
        ),
        field_row(text("prefixes", placeholder="+93 +49"), text("priorities", placeholder="critical high")),
        field_row(
            text("from", placeholder="08:00"),
            text("to", placeholder="20:00"),
            text("zone", placeholder="Asia/Kabul"),
        ),
        field_row(
            choice("reachable", any_reach), choice("online", any_online), text("score", inputmode="decimal")
        ),
        open=any(name.startswith(f"s{place}.") for name in editor.faults),
    )
    return el(
        "fieldset",
        el("legend", label, class_="unseen"),
        el("div", el("strong", label), moves, class_="head"),
        first,
        conditions,
        class_="step",
        data_step=str(place),
    )


def _move(label: str, sign: str, do: str, step: str, *, off: bool) -> Html:
    return button(
        sign,
        "icon",
        name="do",
        value=do,
        title=label,
        aria_label=f"{label}: {step}",
        disabled=off,
        data_move=do.partition("-")[0],
    )


def _named(vendors: Sequence[str], chosen: str) -> list[tuple[str, str]]:
    return [(name, name) for name in sorted({*vendors, *([chosen] if chosen else [])})]


def _terms(visit: Visit, editor: Editor) -> Html:
    words, fields, faults = visit.words, editor.fields, editor.faults

    def text(name: str, *api: str, **attributes: Any) -> Html:
        wrong = next((faults[one] for one in (name, *api) if one in faults), None)
        return text_field(
            name, words[f"policies.field.{name}"], fields.get(name, ""), error=wrong, **attributes
        )

    def choice(name: str, values: Sequence[str]) -> Html:
        options = [(one, words[f"policies.{name}.{one}"]) for one in values]
        return select_field(
            name, words[f"policies.field.{name}"], options, fields.get(name), error=faults.get(name)
        )

    return section(
        words["policies.terms"],
        field_row(choice("strategy", _STRATEGIES), choice("order", _ORDERS)),
        field_row(
            text("cap", "cost_cap_micros", inputmode="decimal", dir="ltr", placeholder="0.15"),
            text("currency", "cost_cap_currency", dir="ltr", maxlength=3),
            text("second", "value_of_a_second", inputmode="decimal", dir="ltr"),
        ),
        field_row(
            text("ttl", "session_ttl_seconds", inputmode="numeric", dir="ltr"), text("stop", "stop_keywords")
        ),
        text("description", maxlength=500),
        button(words["save"], name="do", value="save"),
        id_="terms",
    )


def _simulator(visit: Visit, editor: Editor) -> Html:
    words, fields = visit.words, editor.fields
    known = el("datalist", [el("option", value=key) for key in editor.templates], id="templates")
    return section(
        words["policies.simulator"],
        el("p", words["policies.simulator_text"], class_="hint"),
        field_row(
            text_field(
                "recipient",
                words["policies.recipient"],
                fields.get("recipient", ""),
                hint=words["policies.recipient_hint"],
                error=editor.faults.get("recipient"),
                dir="ltr",
                autocomplete="off",
            ),
            text_field(
                "template",
                words["policies.template"],
                fields.get("template", ""),
                error=editor.faults.get("template"),
                list="templates",
                dir="ltr",
                autocomplete="off",
            ),
        ),
        known,
        area_field(
            "variables",
            words["policies.variables"],
            fields.get("variables", ""),
            rows=3,
            hint='{"code": "1234"}',
            error=next((text for name, text in editor.faults.items() if name.startswith("variables")), None),
            dir="ltr",
        ),
        button(words["policies.simulate"], "quiet", name="do", value="simulate"),
        id_="simulator",
    )


def _remove(visit: Visit, policy_id: str) -> Html:
    words = visit.words
    asked = confirm(
        words,
        visit.reader,
        f"{HERE}/{policy_id}/delete",
        words["policies.delete"],
        words["policies.delete_question"],
    )
    return el("div", join(asked), class_="actions")
