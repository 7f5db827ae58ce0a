"""What an alert means and what to do next: its texts in the catalogue, and the page that helps."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tidings.backoffice.console.frame import ConsoleReader
from tidings.backoffice.console.html import Html, el, filled
from tidings.backoffice.console.own_api import at
from tidings.backoffice.console.places import places_for
from tidings.backoffice.console.strings import ConsoleStrings


class Helps(NamedTuple):
    """A page that helps, by the key of its place, and which part of it by a fact."""

    place: str
    #: What follows the path of the place, with the fact in the place of `{}`; empty: the page itself.
    below: str = ""
    fact: str = ""


#: Category → the page that helps; none where the text alone says what to do.
ADVICE: Final[Mapping[str, Helps | None]] = {
    "session_on_other_device": Helps("operators"),
    "device_offline": Helps("devices"),
    "ai_decisions_undelivered": Helps("ai_inbox"),
    "lock_action_unknown": Helps("locks", "?reservation_id={}", "reservation_id"),
    "circuit_open": Helps("vendors"),
    "bounce_rate": Helps("suppressions"),
    "complaint_rate": Helps("suppressions"),
    "webhook_disabled": Helps("webhooks", "/{}", "subscription_id"),
    "webhook_dead_letters": Helps("webhooks", "/{}", "subscription_id"),
    "approval_waiting": Helps("templates"),
    "template_approval": Helps("templates", "?key={}", "key"),
    "batch_approval": Helps("batches", "/{}", "batch"),
    "spend_near_cap": Helps("spend"),
    "api_key_expiring": Helps("api_keys"),
    "partition_missing": Helps("health"),
    "outbox_lag": Helps("health"),
    "group_behind": Helps("health"),
    "queue_waiting": Helps("health"),
    "dead_letters": None,
    "ledger_export_failed": Helps("health"),
    "receipts_waiting": Helps("health"),
    "no_worker": Helps("health"),
    "process_gone": Helps("health"),
    "job_overdue": Helps("health"),
}


def title_of(words: ConsoleStrings, alert: Mapping[str, Any]) -> str:
    """What it is, in a few words."""
    category = str(alert["category"])
    return words.get(f"alerts.title.{category}", category.replace("_", " "))


def meaning_of(words: ConsoleStrings, alert: Mapping[str, Any]) -> Html:
    """What is so, with the facts in their places."""
    text = words.get(f"alerts.meaning.{alert['category']}", words["alerts.meaning_other"])
    return filled(text, **{name: str(value) for name, value in alert["facts"].items()})


def todo_of(words: ConsoleStrings, alert: Mapping[str, Any]) -> Html:
    """What somebody does about it."""
    text = words.get(f"alerts.todo.{alert['category']}", words["alerts.todo_other"])
    return filled(text, **{name: str(value) for name, value in alert["facts"].items()})


def link_of(words: ConsoleStrings, reader: ConsoleReader, alert: Mapping[str, Any]) -> Html | None:
    """A button that leads to the page that helps, for who may see that."""
    helps = ADVICE.get(str(alert["category"]))
    seen = places_for(reader.scopes, is_platform=reader.is_platform)
    place = next((one for one in seen if helps is not None and one.key == helps.place), None)
    if helps is None or place is None:
        return None
    fact = alert["facts"].get(helps.fact)
    href = place.path + at(helps.below, str(fact)) if helps.fact and fact is not None else place.path
    return el("a", words[f"place.{place.key}"], href=href, class_="button quiet")
