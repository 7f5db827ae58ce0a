"""A request described as data: JSON with `{{placeholders}}`, compiled once, filled as values and never as text.

A text that is one placeholder becomes the value itself, whatever its type; a text around placeholders stays a text.
The whole is encoded as JSON afterwards, so no text of a message can change the request's shape. In a URL a
value is percent-encoded; in a header a value with a line break is refused.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote

from tidings.contracts.messages import OutboundMessage
from tidings.kernel.egress import host_and_port
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.field_errors import printable
from tidings.router.adapters.whatsapp_templates import whatsapp_template

#: From what is sent, a message as a rule, to a value of it.
Fill: TypeAlias = Callable[[Any], Any]

_HOLE = re.compile(r"\{\{\s*([a-z_]+(?:\.[A-Za-z0-9_-]+)*)\s*\}\}")
#: What a placeholder can name.
_FIELDS: Mapping[str, Fill] = {
    "message_id": lambda m: m.message_id,
    "tenant_id": lambda m: m.tenant_id,
    "channel": lambda m: m.channel,
    "to": lambda m: m.to,
    "to_name": lambda m: m.to_name,
    "from": lambda m: m.sender.value,
    "from_name": lambda m: m.sender.name,
    "reply_to": lambda m: m.reply_to.value if m.reply_to else None,
    "subject": lambda m: m.subject,
    "text": lambda m: m.text,
    "html": lambda m: m.html,
    "language": lambda m: m.language,
    "list_unsubscribe": lambda m: m.list_unsubscribe,
    "template": lambda m: whatsapp_template(m.template) if m.template is not None else None,
    "metadata": lambda m: dict(m.metadata),
}
_DEEPEST = 16


def compile_json(template: object, secrets: Mapping[str, str], field: str, *, depth: int = 0) -> Fill:
    """A function from a message to the template's value, filled."""
    if depth > _DEEPEST:
        raise BadValueError(field, "is nested too deeply")
    if isinstance(template, Mapping):
        inner = {
            _plain_key(key, field): compile_json(value, secrets, f"{field}.{printable(key)}", depth=depth + 1)
            for key, value in template.items()
        }
        return lambda message: {key: fill(message) for key, fill in inner.items()}
    if isinstance(template, list | tuple):
        items = [compile_json(v, secrets, f"{field}[{i}]", depth=depth + 1) for i, v in enumerate(template)]
        return lambda message: [fill(message) for fill in items]
    if isinstance(template, str):
        whole = _HOLE.fullmatch(template)
        return _hole(whole[1], secrets, field) if whole else compile_text(template, secrets, field)
    return lambda _: template


def compile_text(
    template: str,
    secrets: Mapping[str, str],
    field: str,
    *,
    encode: Callable[[str], str] = str,
    fields: Mapping[str, Fill] | None = None,
) -> Callable[[Any], str]:
    """A function from a message to a text."""
    parts: list[str | Fill] = []
    at = 0
    for hole in _HOLE.finditer(template):
        parts += (template[at : hole.start()], _hole(hole[1], secrets, field, fields))
        at = hole.end()
    parts.append(template[at:])
    if any("{{" in part or "}}" in part for part in parts if isinstance(part, str)):
        raise BadValueError(field, "has a placeholder that can't be read; write {{to}} or {{metadata.name}}")
    if len(parts) == 1:
        return lambda _: template

    def fill(message: Any) -> str:
        return "".join(part if isinstance(part, str) else encode(_shown(part(message))) for part in parts)

    return fill


def compile_url(
    template: str, secrets: Mapping[str, str], field: str = "url", fields: Mapping[str, Fill] | None = None
) -> Callable[[Any], str]:
    """Placeholders stand behind the host, and their values can't leave their place."""
    scheme, _, rest = template.partition("://")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if (
        scheme not in {"http", "https"}
        or "{{" in host
        or "@" in host
        or host_and_port(f"{scheme}://{host}") is None
    ):
        raise BadValueError(
            field, "must be an http or https URL whose host has no placeholder and no password"
        )
    return compile_text(template, secrets, field, encode=lambda value: quote(value, safe=""), fields=fields)


def compile_header(template: str, secrets: Mapping[str, str], field: str) -> Callable[[OutboundMessage], str]:
    """Values in one line of visible characters."""
    text = compile_text(template, secrets, field)

    def fill(message: OutboundMessage) -> str:
        value = text(message)
        if any(c < " " or c == "\x7f" for c in value):
            raise BadValueError(field, "must not contain line breaks or control characters")
        return value

    return fill


def _hole(
    name: str, secrets: Mapping[str, str], field: str, fields: Mapping[str, Fill] | None = None
) -> Fill:
    first, _, rest = name.partition(".")
    if first == "secret":
        if rest not in secrets:
            # Not by its name: people paste the secret where that belongs.
            raise BadValueError(field, "names a secret that is not among `secrets`")
        secret = secrets[rest]
        return lambda _: secret
    if fields is not None:
        if name not in fields:
            known = ", ".join([*fields, "secret.…"])
            raise BadValueError(field, f"has an unknown placeholder; known are {known}")
        return fields[name]
    if first == "metadata" and rest:
        path = rest.split(".")
        return lambda message: _inside(message.metadata, path)
    if rest or first not in _FIELDS:
        known = ", ".join([*_FIELDS, "metadata.…", "secret.…"])
        raise BadValueError(field, f"has an unknown placeholder; known are {known}")
    return _FIELDS[first]


def _inside(value: object, path: list[str]) -> Any:
    for step in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value


def _plain_key(key: object, field: str) -> str:
    if not isinstance(key, str) or "{{" in key:
        raise BadValueError(field, "must have plain names as keys, without placeholders")
    return key


def _shown(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
    return str(value)
