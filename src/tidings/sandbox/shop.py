"""A small shop that stands in for a tenant's own site: its page has the in-app inbox, its backend makes the tokens.

It knows Tidings by the public API alone, as any shop does: what is here can be copied.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import msgspec

from tidings.kernel.errors import BadValueError, NotConfiguredError
from tidings.kernel.refusals import NotFoundError
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.page_policy import page_policy

if TYPE_CHECKING:
    # Heavy (10 MB): only those who open the shop pay for it.
    import aiohttp

_FOLDER: Final = Path(__file__).parent
_PAGE: Final = _FOLDER / "shop.html"
_VISITOR: Final = {"type": "user", "id": "shop-visitor"}
_TEMPLATE: Final = "shop_message"
_SEMVER: Final = "1.0.0"
_BODY: Final = (
    '{"title": "{{title}}", "body": "{{body}}", "body_format": "markdown"'
    '{{#if pay}}, "actions": [{"name": "pay", "label": "{{pay}}"}, {"name": "later", "label": "{{later}}"}]{{/if}} }'
)
_TEXTS: Final = ("title", "body", "pay", "later")
_CATEGORIES: Final = {"order": "transactional", "invoice": "billing", "answer": "social"}
_OK: Final = range(200, 300)
_PATIENCE_SECONDS: Final = 15.0

Kind: TypeAlias = Literal["order", "invoice", "answer"]
Locale: TypeAlias = Literal["en", "fr", "ar", "fa-AF", "ps-AF"]


class ShopMessage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a visitor sends themselves."""

    kind: Kind
    locale: Locale = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopAccess:
    """How the shop reaches Tidings."""

    #: Where its backend and its visitors' browsers find the API.
    base_url: str
    api_key: str = field(repr=False)


class Shop:
    """The page and the backend; closed until it is told of a Tidings."""

    def __init__(self) -> None:
        self._access: ShopAccess | None = None
        self._session: aiohttp.ClientSession | None = None
        self._templates: set[str] = set()

    def open(self, access: ShopAccess) -> None:
        """Serve visitors from now on."""
        self._access = access
        self._templates.clear()

    async def close(self) -> None:
        """End the connections."""
        if self._session is not None:
            await self._session.close()

    def handle(self, request: SandboxRequest, steps: Sequence[str]) -> SandboxResponse:
        """One request under `/inbox`."""
        match (request.method, *steps):
            case ("GET",):
                return self._show_page()
            case ("POST", "token"):
                return SandboxResponse(later=self._token())
            case ("POST", "messages"):
                return SandboxResponse(later=self._send(_read(request.body)))
        raise NotFoundError("the shop has GET /inbox, POST /inbox/token and POST /inbox/messages")

    def _show_page(self) -> SandboxResponse:
        base = self._opened().base_url
        page = _PAGE.read_text(encoding="utf-8").replace("{{base}}", base)
        headers = {
            "content-security-policy": page_policy(page, server=base),
            "referrer-policy": "no-referrer",
        }
        return SandboxResponse(body=page.encode(), media_type="text/html; charset=utf-8", headers=headers)

    async def _token(self) -> SandboxResponse:
        """What a backend does when its own page asks: it knows who is signed in, and gets them a token."""
        visitor = await self._visitor()
        if isinstance(visitor, SandboxResponse):
            return visitor
        status, made = await self._ask("POST", f"/api/v1/recipients/{visitor}/inbox-tokens", {})
        return json_answer(made, status=status)

    async def _send(self, wanted: ShopMessage) -> SandboxResponse:
        texts = json.loads((_FOLDER / "shop_messages.json").read_text(encoding="utf-8"))
        said: Mapping[str, str] = texts[wanted.kind][wanted.locale]
        visitor = await self._visitor(wanted.locale)
        if isinstance(visitor, SandboxResponse):
            return visitor
        refused = await self._ensure_template(_CATEGORIES[wanted.kind])
        if refused is not None:
            return refused
        status, answer = await self._ask(
            "POST",
            "/api/v1/notifications",
            {
                "recipient": visitor,
                "template": f"{_TEMPLATE}_{_CATEGORIES[wanted.kind]}",
                "channel": "inapp",
                "variables": said,
                "locale": wanted.locale,
            },
        )
        return json_answer(answer, status=status)

    async def _visitor(self, locale: Locale = "en") -> str | SandboxResponse:
        person = {"identity": _VISITOR, "display_name": "Visitor", "locale": locale, "timezone": "UTC"}
        status, known = await self._ask("POST", "/api/v1/recipients", person)
        return known["id"] if status in _OK else json_answer(known, status=status)

    async def _ensure_template(self, category: str) -> SandboxResponse | None:
        """Publish the text of the messages, unless it is; a refusal is handed on."""
        if category in self._templates:
            return None
        path = f"/api/v1/templates/{_TEMPLATE}_{category}/inapp"
        status, _ = await self._ask("GET", path, None)
        if status not in _OK:
            optional = {name: {"type": "string"} for name in _TEXTS}
            version = {
                "semver": _SEMVER,
                "category": category,
                "variables_schema": {"type": "object", "required": ["title", "body"], "properties": optional},
                "locales": {one: {"format": "json", "body": _BODY} for one in get_args(Locale)},
                "preview_samples": {"usual": {"title": "Hello", "body": "A message"}},
            }
            for call, body in ((f"{path}/versions", version), (f"{path}/versions/{_SEMVER}/publish", {})):
                status, answer = await self._ask("POST", call, body)
                if status not in _OK:
                    return json_answer(answer, status=status)
        self._templates.add(category)
        return None

    async def _ask(self, method: str, path: str, body: object) -> tuple[int, Any]:
        import aiohttp

        access = self._opened()
        if self._session is None:
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=_PATIENCE_SECONDS),
                trust_env=False,
            )
        async with self._session.request(
            method,
            access.base_url + path,
            json=body if method == "POST" else None,
            headers={"Authorization": f"Bearer {access.api_key}"},
            allow_redirects=False,
        ) as answer:
            return answer.status, await answer.json(content_type=None)

    def _opened(self) -> ShopAccess:
        if self._access is None:
            raise NotConfiguredError(
                "the shop belongs to a Tidings; `tidings up` opens it, `tidings sandbox` alone does not"
            )
        return self._access


def _read(body: bytes) -> ShopMessage:
    try:
        return msgspec.json.decode(body, type=ShopMessage)
    except msgspec.DecodeError:
        raise BadValueError(
            "body", 'must be {"kind": "order", "locale": "en"}; kinds: order, invoice, answer'
        ) from None
