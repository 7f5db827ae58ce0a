"""Writes the OpenAPI 3.1 document from the declarations of the routes.

The schemas come from the very types that decode requests, by the decoder's own library: unknown fields are
shown as refused where they are, unions carry their discriminator, and fields the notes above them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from tidings.kernel.http.callers import TENANT_HEADER, TenantNeed, takes_test_keys
from tidings.kernel.http.etags import IfMatchMode
from tidings.kernel.http.field_notes import describe_fields
from tidings.kernel.http.operations import Operation
from tidings.kernel.http.problems import MEDIA_TYPE, Problem, catalogue
from tidings.kernel.http.resources import Declared
from tidings.kernel.ids import TENANT

_PARAMETER = re.compile(r"\{(\w+)")
_REF = "#/components/schemas/{name}"
_ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}"
#: In which order an address shows its methods.
_ORDER = ("GET", "POST", "PUT", "PATCH", "DELETE")
#: What a header says, and its form.
_HEADERS = {
    "Idempotency-Key": (
        "Repeat the request with the same key within a day and get the first answer again.",
        "^[!-~]{1,255}$",
    ),
    "If-Match": (
        "The ETag that the change is made from.",
        r'^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$',
    ),
    "X-Attestation": (
        "The id of an attestation for this action: `POST /bff/v1/attestations` makes one from a code of your authenticator.",
        f"^mfa_{_ULID}$",
    ),
    "Last-Event-ID": (
        "The id of the last event that was read: the stream goes on behind it.",
        "^[A-Za-z0-9_-]{1,100}$",
    ),
}
_IF_MATCH: dict[IfMatchMode, str] = {
    "required": "",
    "where_there": " Needed where there is something to change, and refused where there is nothing yet.",
    "optional": " May be left out.",
}


def document(
    routes: Sequence[Declared],
    *,
    title: str,
    version: str,
    description: str = "",
    tags: Sequence[str] = (),
    body_limit: Callable[[Declared], int] | None = None,
) -> dict[str, Any]:
    """The whole document; groups come in the order of `tags`, the others after them."""
    wanted = _types(routes)
    schemas, components = _schemas(wanted)
    by_type = dict(zip(map(repr, wanted), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in sorted(routes, key=lambda r: (r.path, _ORDER.index(r.method))):
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type, body_limit)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "description": description},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "tags": [{"name": name} for name in _tags(routes, tags)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key (`tdk_…`) or a JWT, as `Authorization: Bearer …`.",
                }
            },
        },
    }


def _tags(routes: Sequence[Declared], first: Sequence[str]) -> list[str]:
    used = {route.operation.tag for route in routes}
    return [name for name in first if name in used] + sorted(used - set(first), key=str.lower)


def _types(routes: Sequence[Declared]) -> list[Any]:
    found: dict[str, Any] = {repr(Problem): Problem}
    for route in routes:
        declared = route.operation
        query = [field.type for field in _query_fields(declared)]
        for wanted in (declared.body, declared.answer, *declared.also.values(), *query):
            if wanted is not None:
                found.setdefault(repr(wanted), wanted)
    return list(found.values())


def _schemas(types: Sequence[Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    describe_fields(components, types)
    # The library calls Page[KeyView] Page_KeyView_; people would not.
    text = msgspec.json.encode([schemas, components]).decode()
    text = re.sub(r'"(#/components/schemas/)?([A-Za-z]+)_([A-Za-z]+)_"', r'"\1\2Of\3"', text)
    decoded: tuple[list[dict[str, Any]], dict[str, Any]] = msgspec.json.decode(text)
    _publish_patterns(decoded)
    return decoded


def published_pattern(expression: str) -> str:
    r"""An expression of ours as the document writes it: `\Z`, Python's very end, is `$` in the dialect of JSON Schema."""
    return expression.removesuffix(r"\Z") + "$" if expression.endswith(r"\Z") else expression


def _publish_patterns(part: Any) -> None:
    if isinstance(part, dict):
        if isinstance(part.get("pattern"), str):
            part["pattern"] = published_pattern(part["pattern"])
        part = list(part.values())
    if isinstance(part, list | tuple):
        for one in part:
            _publish_patterns(one)


def _query_fields(declared: Operation) -> Sequence[structs.FieldInfo]:
    return structs.fields(declared.query) if declared.query is not None else ()


def _operation(
    route: Declared, schemas: Mapping[str, Any], body_limit: Callable[[Declared], int] | None = None
) -> dict[str, Any]:
    declared = route.operation
    described: dict[str, Any] = {
        "operationId": route.name,
        "summary": declared.summary,
        "tags": [declared.tag],
        "parameters": list(_parameters(route, schemas)),
        "responses": _responses(route, schemas),
    }
    if declared.description:
        described["description"] = declared.description
    if declared.scope is None:
        described["security"] = []
    else:
        described["security"] = [{"bearer": []}]
        described["x-scope"] = declared.scope
        described["x-test-keys"] = _takes_test_keys(route)
    if declared.body is not None:
        content = {"schema": schemas[repr(declared.body)]}
        if declared.example is not None:
            content["example"] = declared.example
        described["requestBody"] = {
            "required": not declared.body_optional,
            "content": {"application/json": content},
        }
    if declared.upload:
        described["requestBody"] = {"required": True, "content": {kind: {} for kind in declared.upload}}
    if body_limit is not None and "requestBody" in described:
        described["x-max-body-bytes"] = body_limit(route)
    if declared.deprecated is not None:
        described["deprecated"] = True
    if route.resource is not None and declared.scope is not None:
        described["x-resource"] = route.resource
        if route.verb is not None:
            described["x-verb"] = route.verb
    return described


def _parameters(route: Declared, schemas: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    declared = route.operation
    for name in _PARAMETER.findall(route.path):
        kind = declared.path.get(name)
        schema = {"type": "string"} | ({"pattern": f"^{kind.prefix}_{_ULID}$"} if kind else {})
        yield {"name": name, "in": "path", "required": True, "schema": schema}
    for field in _query_fields(declared):
        schema = _without_null(schemas[repr(field.type)])
        parameter = {"name": field.encode_name, "in": "query", "required": field.required, "schema": schema}
        if not field.required and field.default not in (None, msgspec.NODEFAULT):
            schema["default"] = field.default
        if schema.get("type") == "object":
            # Written `name.key=value`; the nearest that the standard has is `name[key]=value`.
            parameter["description"] = f"One by one: `{field.encode_name}.NAME=VALUE`."
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        yield parameter
    for name in declared.headers:
        text, pattern = _HEADERS[name]
        if name == "If-Match":
            text += _IF_MATCH[declared.if_match]
        required = name == "If-Match" and declared.if_match == "required"
        yield _header(name, text, required=required, pattern=pattern)
    if declared.scope is not None and declared.tenant is not TenantNeed.NONE:
        text = "With a platform key: the tenant to act for."
        yield _header(TENANT_HEADER, text, required=False, pattern=f"^{TENANT.prefix}_{_ULID}$")


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    # A parameter is left out; it can't be null.
    several = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**rest, **several[0]} if len(several) == 1 else dict(schema)


def _header(name: str, text: str, *, required: bool, pattern: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": text,
        "schema": {"type": "string", "pattern": pattern},
    }


def _responses(route: Declared, schemas: Mapping[str, Any]) -> dict[str, Any]:
    declared = route.operation
    fine: dict[str, Any] = {"description": "As asked."}
    if declared.answer is not None:
        fine["content"] = {declared.media_type: {"schema": schemas[repr(declared.answer)]}}
    elif declared.media_type != "application/json":
        fine["content"] = {declared.media_type: {}}
    responses = {str(declared.status): fine}
    for other, answer in declared.also.items():
        content = {"application/json": {"schema": schemas[repr(answer)]}}
        responses[str(other)] = {"description": "Not as hoped.", "content": content}
    for other, said in declared.pages.items():
        responses[str(other)] = {"description": said, "content": {declared.media_type: {}}}
    codes = catalogue()
    # Whatever stands in a path may be written so that the path is none.
    for code in [*_codes(declared), *(["no_route"] if _PARAMETER.search(route.path) else [])]:
        status, title, _ = codes[code]
        entry = responses.setdefault(
            str(status),
            {
                "description": title,
                "content": {MEDIA_TYPE: {"schema": schemas[repr(Problem)]}},
                "x-codes": [],
            },
        )
        entry["content"].setdefault(MEDIA_TYPE, {"schema": schemas[repr(Problem)]})
        entry.setdefault("x-codes", []).append(code)
    return responses


def _takes_test_keys(route: Declared) -> bool:
    declared = route.operation
    if declared.test_keys is None:
        return takes_test_keys(declared.scope or "", route.method.upper())
    return declared.test_keys


def _codes(declared: Operation) -> list[str]:
    codes = list(declared.problems)
    if declared.scope is None and declared.query is not None:
        codes.append("bad_value")
    if declared.scope is not None:
        codes += [
            "bad_value",
            "unauthenticated",
            "too_many_failed_logins",
            "missing_scope",
            "test_key",
            "internal",
            "database_unavailable",
        ]
        if declared.tenant is not TenantNeed.NONE:
            codes += ["tenant_suspended", "tenant_deleting", "wrong_tenant"]
    if declared.body is not None:
        codes += ["malformed_body", "wrong_content_type", "body_too_large"]
        if declared.tenant is not TenantNeed.NONE:
            codes.append("tenant_frozen")
    if declared.upload:
        codes += ["wrong_content_type", "body_too_large"]
    if "If-Match" in declared.headers:
        codes.append("stale_version")
        if declared.if_match != "optional":
            codes.append("precondition_required")
    if "Idempotency-Key" in declared.headers:
        codes += ["idempotency_key_reused", "idempotency_in_progress"]
    return list(dict.fromkeys(codes))
