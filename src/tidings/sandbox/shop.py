"""A small shop that stands in for a tenant's own site: its page has the in-app inbox, its backend makes the tokens.

It knows Tidings by the public API alone, as any shop does: what is here can be copied.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from tidings.kernel.errors import BadValueError
from tidings.kernel.refusals import NotFoundError
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.page_policy import page_policy
from tidings.sandbox.tenant_api import OK, TenantAccess, TenantApi

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

Kind: TypeAlias = Literal["order", "invoice", "answer"]
Locale: TypeAlias = Literal["en", "fr", "ar", "fa-AF", "ps-AF"]


class ShopMessage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a visitor sends themselves."""

    kind: Kind
    locale: Locale = "en"


class Shop:
    """The page and the backend; closed until it is told of a Tidings."""

    def __init__(self, api: TenantApi) -> None:
        self._api = api
        #: Categories whose texts are published, and for whom.
        self._templates: set[tuple[TenantAccess, str]] = set()

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
        base = self._api.opened().base_url
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
        status, made = await self._api.ask("POST", f"/api/v1/recipients/{visitor}/inbox-tokens", {})
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
        status, answer = await self._api.ask(
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
        status, known = await self._api.ask("POST", "/api/v1/recipients", person)
        return known["id"] if status in OK else json_answer(known, status=status)

    async def _ensure_template(self, category: str) -> SandboxResponse | None:
        """Publish the text of the messages, unless it is; a refusal is handed on."""
        here = self._api.opened(), category
        if here in self._templates:
            return None
        path = f"/api/v1/templates/{_TEMPLATE}_{category}/inapp"
        status, _ = await self._api.ask("GET", path, None)
        if status not in OK:
            optional = {name: {"type": "string"} for name in _TEXTS}
            version = {
                "semver": _SEMVER,
                "category": category,
                "variables_schema": {"type": "object", "required": ["title", "body"], "properties": optional},
                "locales": {one: {"format": "json", "body": _BODY} for one in get_args(Locale)},
                "preview_samples": {"usual": {"title": "Hello", "body": "A message"}},
            }
            for call, body in ((f"{path}/versions", version), (f"{path}/versions/{_SEMVER}/publish", {})):
                status, answer = await self._api.ask("POST", call, body)
                if status not in OK:
                    return json_answer(answer, status=status)
        self._templates.add(here)
        return None


def _read(body: bytes) -> ShopMessage:
    try:
        return msgspec.json.decode(body, type=ShopMessage)
    except msgspec.DecodeError:
        raise BadValueError(
            "body", 'must be {"kind": "order", "locale": "en"}; kinds: order, invoice, answer'
        ) from None
