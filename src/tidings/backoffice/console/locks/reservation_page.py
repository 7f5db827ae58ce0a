"""The page of a reservation's keys."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled
from tidings.backoffice.console.kit.forms import (
    button,
    code_field,
    hidden,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import code, empty, moment, note, section, status_badge
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.locks.audit_page import audit_table
from tidings.backoffice.console.locks.names import ACTIONS, HERE, reservation_path
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

_CREDENTIALS: Final = ("card", "mobile", "pin")


class TriedAction(NamedTuple):
    """What somebody tried, and why it was refused."""

    action: str
    fields: Mapping[str, str]
    error: ApiProblemError


def reservation_page(
    visit: Visit,
    property_id: str,
    reservation: str,
    keys: Sequence[Mapping[str, Any]] | None,
    *,
    done: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
    told: Told | None,
    tried: TriedAction | None,
    away: ApiProblemError | None,
) -> Reply:
    """Keys, what may be done, what was done."""
    words = visit.words
    body: list[Child] = [_keys(visit, keys, away)]
    if visit.may("locks:write"):
        body.append(
            section(
                words["locks.act"],
                el("p", words["locks.act_hint"], class_="soft"),
                el(
                    "div",
                    [_form(visit, property_id, reservation, action, tried) for action in ACTIONS],
                    class_="actions",
                ),
            )
        )
    nothing = empty(words["locks.none_here"])
    body.append(
        section(words["locks.audit"], audit_table(words, done, names, of_reservation=True, empty=nothing))
    )
    return page(
        words,
        words["locks.reservation_title"].replace("{reservation}", reservation),
        body,
        reader=visit.reader,
        here=HERE,
        trail=[(words["place.locks"], HERE)],
        told=told,
        status=tried.error.status if tried else 200,
    )


def _keys(visit: Visit, keys: Sequence[Mapping[str, Any]] | None, away: ApiProblemError | None) -> Html:
    words = visit.words
    if keys is None:
        said = note(words["locks.away"]) if away else NOTHING
        return section(words["locks.keys"], said)
    columns: list[Column[Mapping[str, Any]]] = [
        Column(words["locks.key"], lambda key: code(key["id"])),
        Column(words["locks.room"], lambda key: key["room"]),
        Column(words["locks.credential"], lambda key: words[f"locks.credential.{key['credential']}"]),
        Column(words["locks.status"], lambda key: status_badge(words, "locks", key["status"])),
        Column(words["locks.until"], lambda key: moment(key["valid_until"], exact=True), "grow"),
    ]
    nothing = empty(words["locks.no_keys"], words["locks.no_keys_hint"])
    return section(words["locks.keys"], table(words["locks.keys"], columns, keys, empty=nothing))


def _form(visit: Visit, property_id: str, reservation: str, action: str, tried: TriedAction | None) -> Html:
    """One action behind a summary; open where it was just refused."""
    words = visit.words
    mine = tried if tried is not None and tried.action == action else None
    typed: Mapping[str, str] = mine.fields if mine else {}
    wrong = mine.error.errors if mine else {}
    fields: list[Child] = [hidden("once", secrets.token_urlsafe(16))]
    if action == "issue":
        options = [(one, words[f"locks.credential.{one}"]) for one in _CREDENTIALS]
        fields.append(
            select_field(
                "credential",
                words["locks.credential"],
                options,
                typed.get("credential", "card"),
                id_="issue-credential",
            )
        )
    if action == "rebind":
        fields.append(
            text_field(
                "room",
                words["locks.new_room"],
                typed.get("room"),
                id_="rebind-room",
                required=True,
                maxlength=32,
                error=wrong.get("room"),
            )
        )
    if action in ("issue", "extend"):
        fields.append(
            text_field(
                "until",
                words["locks.until_utc"],
                typed.get("until"),
                kind="datetime-local",
                id_=f"{action}-until",
                hint=words["locks.until_hint"] if action == "issue" else None,
                required=action == "extend",
                error=wrong.get("valid_until"),
            )
        )
    inside = post_form(
        visit.reader,
        f"{reservation_path(property_id, reservation)}/{action}",
        el("p", filled(words[f"locks.question.{action}"], reservation=reservation)),
        fields,
        code_field(words, id_=f"code-{action}"),
        button(words[f"locks.action.{action}"], "grave" if action == "revoke" else ""),
    )
    label = el(
        "summary",
        words[f"locks.action.{action}"],
        class_="button grave" if action == "revoke" else "button quiet",
    )
    return el("details", label, inside, class_="confirm", open=mine is not None)
