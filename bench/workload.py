"""What everybody sends in the benchmarks: a subject and 3 KB of HTML, to one of a thousand people."""

import json
from typing import Any, Final

KEY: Final = "bench_order"
PEOPLE: Final = 1000

_ROW = '<tr><td style="padding:8px;color:#334155">{{name}}</td><td style="padding:8px">{{quantity}}</td></tr>'
_PARAGRAPH = (
    '<p style="margin:0 0 12px;font-family:Helvetica,Arial,sans-serif;font-size:15px;line-height:22px;color:#334155">'
    "We have received your order and are getting it ready. You will hear from us again as soon as it is on its way.</p>\n"
)

#: A version for `POST /api/v1/templates/bench_order/email/versions`.
VERSION: Final[dict[str, Any]] = {
    "semver": "1.0.0",
    "category": "transactional",
    "variables_schema": {
        "type": "object",
        "required": ["order_number", "items"],
        "properties": {
            "order_number": {"type": "string"},
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name", "quantity"],
                    "properties": {"name": {"type": "string"}, "quantity": {"type": "integer"}},
                },
            },
        },
    },
    "locales": {
        "en": {
            "format": "html",
            "subject": "Your order {{order_number}}",
            "body": f"<h1>Order {{{{order_number}}}}</h1>\n{_PARAGRAPH * 9}<table>{{{{#each items}}}}{_ROW}{{{{/each}}}}</table>\n",
        }
    },
    "preview_samples": {"usual": {"order_number": "A-1", "items": [{"name": "Green tea", "quantity": 2}]}},
}


def notification(i: int, **more: Any) -> dict[str, Any]:
    """The request of the i-th one."""
    person = i % PEOPLE
    return {
        "recipient": {
            "identity": {"type": "guest", "id": f"g-{person}"},
            "display_name": "Laila",
            "locale": "en",
            "addresses": [{"channel": "email", "address": f"laila.{person}@example.test"}],
        },
        "template": KEY,
        "channel": "email",
        "variables": {"order_number": f"A-{i}", "items": [{"name": "Green tea", "quantity": 2}]},
        **more,
    }


def body(i: int, **more: Any) -> bytes:
    """The same as JSON."""
    return json.dumps(notification(i, **more)).encode()


def bulk(first: int, count: int, **more: Any) -> bytes:
    """Many of them in one request."""
    return json.dumps({"notifications": [notification(first + i, **more) for i in range(count)]}).encode()
