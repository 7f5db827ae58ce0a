"""Pages of conversations, and what their buttons do."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.conversations.list_page import HOME, VIEWS, list_page
from tidings.backoffice.console.conversations.thread_page import Thread, news_page, segments_page, thread_page
from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.people.names import names_of
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

conversations_pages = Resource(
    "console-conversations", at=HOME, tag="console", owner=Owner.PUBLIC, of_backoffice=True
)

_HTML: Final = "text/html"
_API: Final = "/api/v1/router/conversations"
_SHOWN: Final = 50
#: Lines of a thread that are shown at most, and how many times so many are read to come to the newest.
_MOST_LINES: Final = 200
_MOST_PAGES: Final = 10
#: Of the answers, the newest so many are put into words again: each is audited.
_MOST_WORDS: Final = 8
_UNDER_WAY: Final = frozenset({"queued", "scheduled"})


@conversations_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_conversations(request: Request, visits: Visits) -> Reply:
    """Those who wait for an answer, or the open ones, or all."""
    visit = await visits.open(request, of_tenant=True)
    query = visit.query
    view = (
        query.get("view", "")
        if query.get("view") in VIEWS
        else "all"
        if query.get("recipient")
        else "waiting"
    )
    wanted = {**VIEWS[view], "channel": query.get("channel"), "recipient": query.get("recipient")}
    unmatched = None
    if visit.reader.is_platform and visit.may("router:read"):
        unmatched = (await visit.api.get("/internal/v1/inbound-unmatched"))["items"]
    try:
        found = await visit.api.get(_API, limit=_SHOWN, cursor=query.get("cursor"), **wanted)
    except ApiProblemError as problem:
        if problem.status not in (400, 422):
            raise
        nothing: dict[str, Any] = {"items": [], "next_cursor": None}
        return list_page(visit, view, nothing, unmatched, told=visit.refused(problem), status=400)
    names = await names_of(visit, (one["recipient_id"] for one in found["items"]))
    return list_page(visit, view, found, unmatched, names=names, told=visit.told())


@conversations_pages.post("/segments", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def count_segments(request: Request, visits: Visits) -> Reply:
    """How many text messages an answer takes, while it is typed."""
    visit, fields = await visits.posted(request, writes=False, of_tenant=True)
    return segments_page(visit, _typed(fields))


@conversations_pages.get("/{conversation_id}", media_type=_HTML)
@answering_with_pages
async def show_conversation(request: Request, conversation_id: str, visits: Visits) -> Reply:
    """What was said; its address has the version, so that the page learns of what comes without reading all of it again."""
    visit = await visits.open(request, of_tenant=True)
    one = await visit.api.get(at(f"{_API}/{{}}", conversation_id))
    if request.header("x-live"):
        return news_page(visit, one)
    if visit.query.get("at") != str(one["version"]):
        told = visit.query.get("told", "")
        kept = f"&told={told}" if told.replace("_", "").isalnum() else ""
        return redirect(f"{HOME}/{conversation_id}?at={one['version']}{kept}")
    return await _thread(visit, one, told=visit.told())


@conversations_pages.post("/{conversation_id}/answer", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def answer(request: Request, conversation_id: str, visits: Visits) -> Reply:
    """Answer over the channel of the conversation."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    key = fields.get("key", "")[:64]
    text = _typed(fields)
    try:
        await visit.api.call(
            "POST",
            at(f"{_API}/{{}}/messages", conversation_id),
            body={"text": text},
            headers={"idempotency-key": key} if key.isalnum() else None,
        )
    except ApiProblemError as problem:
        return await _refused(visit, conversation_id, problem, draft=text)
    return redirect(f"{HOME}/{conversation_id}?told=conversations_answered")


@conversations_pages.post("/{conversation_id}/close", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def close(request: Request, conversation_id: str, visits: Visits) -> Reply:
    """Close it by hand."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    reason = fields.get("reason", "").strip()
    try:
        await visit.api.post(at(f"{_API}/{{}}/close", conversation_id), {"reason": reason} if reason else {})
    except ApiProblemError as problem:
        return await _refused(visit, conversation_id, problem)
    return redirect(f"{HOME}/{conversation_id}?told=conversations_closed")


def _typed(fields: Mapping[str, str]) -> str:
    """As people see it: a browser sends line breaks as two characters."""
    return fields.get("text", "").replace("\r\n", "\n").strip()


async def _refused(visit: Visit, conversation_id: str, problem: ApiProblemError, *, draft: str = "") -> Reply:
    if problem.status in (401, 404):
        raise problem
    one = await visit.api.get(at(f"{_API}/{{}}", conversation_id))
    return await _thread(visit, one, draft=draft, told=visit.refused(problem), status=problem.status)


async def _thread(
    visit: Visit, one: Mapping[str, Any], *, draft: str = "", told: Told | None = None, status: int = 200
) -> Reply:
    person = None
    if one["recipient_id"] and visit.may("recipients:read"):
        person = await visit.api.get(at("/api/v1/recipients/{}", one["recipient_id"]))
    thread = None
    if visit.may("conversations:write"):
        try:
            thread = await _read(visit, one)
        except ApiProblemError as problem:
            # Reading is written down, which a frozen tenant does not take.
            if problem.status != 423:
                raise
            told = told or visit.refused(problem)
    return thread_page(visit, one, thread, person, draft=draft, told=told, status=status)


async def _read(visit: Visit, one: Mapping[str, Any]) -> Thread:
    """The transcript, how far its notifications came, and the words of the newest answers."""
    lines, has_more = await _lines(visit, at(f"{_API}/{{}}/messages", one["id"]))
    answers: Sequence[Any] = ()
    if visit.may("notifications:read"):
        answers = (await visit.api.get("/api/v1/notifications", correlation_id=one["id"], limit=_SHOWN))[
            "items"
        ]
        if one["recipient_id"]:
            sent = await visit.api.get("/api/v1/notifications", recipient=one["recipient_id"], limit=_SHOWN)
            answers = [*answers, *sent["items"]]
    statuses = {answer["id"]: answer["status"] for answer in answers}
    told = {line["notification_id"] for line in lines}
    waiting = {
        answer["id"]: answer
        for answer in answers
        if answer["correlation_id"] == one["id"] and answer["id"] not in told and _is_news(answer)
    }
    mine = {answer["id"] for answer in answers if answer["correlation_id"] == one["id"]}
    shown = [line["notification_id"] for line in lines if line["notification_id"] in mine]
    words = await _words(visit, [*shown, *reversed(waiting)], one["channel"])
    return Thread(
        lines=lines,
        has_more=has_more,
        words=words,
        statuses=statuses,
        templates={answer["id"]: answer["template"]["key"] for answer in answers},
        waiting=list(reversed(waiting.values())),
    )


async def _lines(visit: Visit, path: str) -> tuple[Sequence[Any], bool]:
    """The newest lines, and whether older ones are left out; the API tells the oldest first."""
    lines: list[Any] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        found = await visit.api.get(path, limit=_MOST_LINES, cursor=cursor)
        lines += found["items"]
        cursor = found.get("next_cursor")
        if not cursor:
            break
    return lines[-_MOST_LINES:], len(lines) > _MOST_LINES


def _is_news(answer: Mapping[str, Any]) -> bool:
    """Answers that never reached a vendor are told too; what was delivered stands in the transcript."""
    return answer["status"] in _UNDER_WAY or answer["status"] in ("suppressed", "failed", "expired")


async def _words(visit: Visit, ids: Sequence[str], channel: str) -> Mapping[str, str]:
    """What was written, where the reader may see it and it can still be put together."""
    if not visit.may("recipients:write"):
        return {}

    async def asked(notification_id: str) -> str | None:
        try:
            path = at("/api/v1/notifications/{}/body", notification_id)
            return (await visit.api.get(path, channel=channel))["text"]  # type: ignore[no-any-return]
        except ApiProblemError:
            return None

    newest = ids[-_MOST_WORDS:]
    found = await asyncio.gather(*map(asked, newest))
    return {id_: text for id_, text in zip(newest, found, strict=True) if text}
