"""Plays the month: slot after slot, with what is out of the ordinary on its day, and the clock moved on between them."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from tidings.cli.demo_month.dice import dice
from tidings.cli.demo_month.doors import ApiCall, MonthClock, SandboxDoor, wait_until_calm
from tidings.cli.demo_month.furnish import Furnisher
from tidings.cli.demo_month.orders import Slot, events, messages, slots, texts
from tidings.cli.demo_month.people import Guest, guests
from tidings.cli.demo_month.sizes import MonthSize
from tidings_client import ConflictError, NotFoundError, ProblemError

#: Stands for the month itself: how far it has been played is one of its attributes.
_MARK: Final = {"type": "vendor", "id": "demo-month"}
#: Day of the month, from its end → what goes wrong with a vendor.
_OUTAGE_BEFORE_END: Final = 9
_WORDS: Final = (
    ("Is breakfast included?", "Yes: from six to ten, in the winter garden."),
    ("Can I check out at noon?", "Gladly, we have noted it."),
    ("Where can I park?", "Behind the house; the gate opens with your room card."),
    ("Danke, alles gut!", None),
    ("STOP", None),
)
_WEEK: Final = 7
#: Day → what kind of campaign it has.
_CAMPAIGNS: Final[Mapping[int, str]] = {1: "sent", 8: "tested", 15: "called off", 22: "sent"}
_OFFER: Final[Mapping[str, Any]] = {
    "template": "autumn_offer",
    "channel": "email",
    "variables": {"percent": 20, "until": "the end of the month"},
}
#: Each costs three requests.
_MOST_OPENED: Final = 8


@dataclass(kw_only=True)
class MonthPlayer:
    """Fills one tenant; what was played already is not played again."""

    call: ApiCall
    platform_call: ApiCall | None
    sandbox: SandboxDoor
    clock: MonthClock
    size: MonthSize
    seed: int
    tell: Callable[[str], None]
    _began: float = field(default=0.0, init=False)
    #: Who got a mail at the time before this one.
    _mailed: Sequence[Guest] = field(default=(), init=False)

    def play(self) -> bool:
        """Everything that is not there yet; whether there was anything."""
        self._began = time.monotonic()
        mark = self._mark()
        if mark.get("done"):
            return False
        people = guests(self.seed, self.size.people)
        first, days = self._span(mark)
        self.tell(
            f"{len(people)} people, {days} days, about {self.size.about_seconds} s"
            + ("" if self.clock.behind else "; all of it today, as this installation has the machine's clock")
        )
        furnisher = Furnisher(self.call, self.platform_call, self.sandbox, seed=self.seed)
        ids = furnisher.furnish(people)
        self.tell(f"{self._passed()} templates, ladders, triggers, webhooks and people are there")
        played = int(mark.get("slots", 0))
        end = self.clock.now() + self.clock.behind
        plan = slots(first, days, self.seed, now=None if self.clock.behind else end)
        plan = [slot for slot in plan if slot.at <= end]
        for slot in plan[played:]:
            self.clock.move_to(slot.at)
            self._play(slot, people, ids, last=plan[-1])
            self._set_mark(first=first.isoformat(), days=days, slots=slot.number + 1, done=False)
            if slot.time == "evening":
                self._progress(slot, len(plan), played)
        self.clock.finish()
        wait_until_calm(self.call, self.clock)
        self._end(people, ids)
        self._set_mark(first=first.isoformat(), days=days, slots=len(plan), done=True)
        return True

    def _span(self, mark: Mapping[str, Any]) -> tuple[datetime, int]:
        """The first day and how many: from where the clock is until now, or what was begun before."""
        if mark.get("first"):
            return datetime.fromisoformat(mark["first"]), int(mark["days"])
        first = self.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
        return first, self.clock.behind.days + 1 if self.clock.behind else self.size.days

    def _play(self, slot: Slot, people: Sequence[Guest], ids: Mapping[str, str], *, last: Slot) -> None:
        chance = dice(self.seed, "play", slot.number)
        outage = slot.day == last.day - _OUTAGE_BEFORE_END and slot.time == "midday"
        if outage:
            self.sandbox.fault(adapter="http", vendor="http", mode="reject_temporary")
        if chance.random() < 0.35:
            # Some mailboxes are gone.
            self.sandbox.fault(adapter="smtp", mode="reject_permanent", count=chance.randrange(1, 3))
        orders = messages(slot, people, self.size.per_slot, seed=self.seed)
        if outage:
            orders += texts(slot, people[: self.size.per_slot], seed=self.seed)
        self.call("send_notifications", body={"notifications": orders}, key=f"demo-{self.seed}-{slot.number}")
        told = events(slot, people, self.size.per_slot, seed=self.seed)
        self.call("send_events", body={"events": told}, key=f"demo-{self.seed}-{slot.number}-events")
        self._batch(slot, last=last)
        wait_until_calm(self.call, self.clock)
        # What has waited for a receipt in vain goes on to its next step, and what was refused is tried again.
        self.clock.move_to(self.clock.now() + timedelta(minutes=3))
        if outage:
            wait_until_calm(self.call, self.clock)
            self.sandbox.heal("http", "http")
        self._look_at_mails(chance, self._mailed)
        self._mailed = _mailed(orders, people)
        self._answer(chance, slot, people)
        wait_until_calm(self.call, self.clock)
        if slot.time == "evening":
            self._read_inboxes(chance, people, ids)

    def _batch(self, slot: Slot, *, last: Slot) -> None:
        """A campaign a week, one of them a test of two offers, and one that was called off; a short time has two on its one day."""
        if last.day < _WEEK:
            kind = {"morning": "sent", "midday": "tested"}.get(slot.time) if slot.day == last.day else None
        else:
            kind = _CAMPAIGNS.get(slot.day) if slot.time == "midday" else None
        if kind is None:
            return
        body = {
            **_OFFER,
            "name": f"Autumn offer, week {slot.day // _WEEK + 1}",
            "filter": f"tag = '{('harbour', 'old_town', 'airport')[slot.day % 3]}'",
        }
        if kind == "tested":
            body["variants"] = [{"percent": 50, "name": "larger", "variables": {"percent": 25}}]
        made = self.call("create_batch", body=body, key=f"demo-{self.seed}-{slot.number}-batch")
        self._start(made["id"])
        if kind == "called off":
            self.call("cancel_batch", made["id"])

    def _start(self, batch_id: str) -> None:
        # It was started before we were interrupted.
        with suppress(ConflictError):
            self.call("start_batch", batch_id)

    def _answer(self, chance: random.Random, slot: Slot, people: Sequence[Guest]) -> None:
        """Somebody writes back over WhatsApp, and the desk answers."""
        if chance.random() > 0.4:
            return
        guest = chance.choice([one for one in people if "whatsapp" in one.addresses])
        question, answer = _WORDS[chance.randrange(len(_WORDS))]
        if question == "STOP" and chance.random() < 0.5:
            return
        said = {"recipient": {"identity": guest.identity}, "template": "otp", "channel": "whatsapp"}
        key = f"demo-{self.seed}-{slot.number}-thread"
        self.call("send_notification", body={**said, "variables": {"code": "700100"}}, key=key)
        wait_until_calm(self.call, self.clock)
        phone = guest.addresses["whatsapp"]
        self.sandbox.write_back("whatsapp_cloud", phone, "100000000000001", question, "whatsapp")
        wait_until_calm(self.call, self.clock)
        if answer is None:
            return
        found = self.call("list_conversations", query={"status": "OPEN", "limit": 1})["items"]
        for one in found[:1]:
            try:
                self.call("answer_conversation", one["id"], body={"text": answer}, key=f"{key}-answer")
            except ProblemError:
                return  # the vendor's window for answers is over, or the person has said STOP

    def _look_at_mails(self, chance: random.Random, mailed: Sequence[Guest]) -> None:
        """The mails of hours ago: what is opened at once was opened by a machine."""
        for guest in mailed[:_MOST_OPENED]:
            if guest.opens_mails:
                self.sandbox.open_mail(guest.addresses["email"], follow=chance.random() < 0.4)

    def _read_inboxes(self, chance: random.Random, people: Sequence[Guest], ids: Mapping[str, str]) -> None:
        for guest in chance.sample(list(people), 2):
            try:
                self.call("read_all_of_inbox", ids[guest.identity["id"]], body={})
            except NotFoundError:
                continue

    def _end(self, people: Sequence[Guest], ids: Mapping[str, str]) -> None:
        """What is still to come, what waits, and what was called off."""
        now = self.clock.now()
        for place, guest in enumerate(people[:6]):
            later = (now + timedelta(days=1 + place, hours=2)).isoformat()
            made = self.call(
                "send_notification",
                body={
                    "recipient": ids[guest.identity["id"]],
                    "template": "house_news",
                    "channel": "email",
                    "variables": {"title": "Your stay", "text": "We look forward to seeing you."},
                    "scheduled_for": later,
                },
                key=f"demo-{self.seed}-later-{place}",
            )
            if place % 3 == 2:
                try:
                    self.call("cancel_notification", made["id"])
                except ConflictError:
                    continue
        gathering = [guest for guest in people if guest.wants_digest][:4]
        for place, guest in enumerate(gathering * 2):
            news = {"title": f"Notice {place + 1}", "text": "The terrace opens at nine."}
            said = {"recipient": ids[guest.identity["id"]], "template": "house_news", "channel": "inapp"}
            key = f"demo-{self.seed}-gathered-{place}"
            self.call("send_notification", body={**said, "variables": news}, key=key)
        slow = {
            **_OFFER,
            "name": "Winter opening",
            "filter": "channel = 'email'",
            "pacing": {"per_minute": 12},
        }
        self._start(self.call("create_batch", body=slow, key=f"demo-{self.seed}-slow")["id"])
        draft = {**_OFFER, "name": "Spring opening", "filter": "tag = 'vip'"}
        self.call("create_batch", body=draft, key=f"demo-{self.seed}-draft")

    def _mark(self) -> Mapping[str, Any]:
        made = self.call("upsert_recipient", body={"identity": _MARK})
        return dict(made.get("attributes") or {})

    def _set_mark(self, **attributes: object) -> None:
        said = {"seed": self.seed, "size": self.size.name, **attributes}
        self.call("upsert_recipient", body={"identity": _MARK, "attributes": said})

    def _progress(self, slot: Slot, many: int, played: int) -> None:
        done, left = slot.number + 1 - played, many - slot.number - 1
        per_slot = (time.monotonic() - self._began) / done
        self.tell(
            f"{self._passed()} day {slot.day + 1} of {-(-many // 3)}, about {left * per_slot:.0f} s left"
        )

    def _passed(self) -> str:
        return f"{time.monotonic() - self._began:5.1f} s "


def _mailed(orders: Sequence[Mapping[str, Any]], people: Sequence[Guest]) -> Sequence[Guest]:
    by_id = {guest.identity["id"]: guest for guest in people}
    return [
        by_id[one["recipient"]["identity"]["id"]] for one in orders if one["channel"] in ("email", "auto")
    ]
