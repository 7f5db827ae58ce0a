"""A template as Meta wants it in a message: its components, each with its parameters; and as Twilio numbers them."""

from collections.abc import Mapping
from typing import Any

from tidings.contracts.vendor_templates import (
    TemplateButton,
    TemplateHeader,
    VendorTemplate,
    one_line,
    shape_faults,
    value_faults,
)
from tidings.kernel.errors import BadValueError


def whatsapp_template(template: VendorTemplate) -> Mapping[str, Any]:
    """The object `template` of the Cloud API; a `BadValueError` names the value that Meta would refuse."""
    refuse_faults(template)
    content: dict[str, Any] = {"name": template.name, "language": {"code": template.language}}
    if components := _components(template):
        content["components"] = components
    return content


def content_variables(template: VendorTemplate) -> dict[str, str]:
    """Twilio's ContentVariables: one number for each place, through header, body and buttons; or names."""
    refuse_faults(template)
    if template.otp_button is not None:
        return {"1": one_line(template.otp_button)}
    named = {name: one_line(value) for name, value in template.named_parameters.items()}
    in_order = [
        value
        for name, value in template.values()
        if not name.startswith("named_parameters.") and name != "header.filename"
    ]
    return {str(place): one_line(value) for place, value in enumerate(in_order, 1)} | named


def refuse_faults(template: VendorTemplate) -> None:
    """A `BadValueError` for the first thing that WhatsApp would refuse, by its field."""
    for name, remedy in (*shape_faults(template), *value_faults(template)):
        raise BadValueError(f"template.{name}", remedy)


def _components(template: VendorTemplate) -> list[dict[str, Any]]:
    if template.otp_button is not None:
        # Created as a button of the type OTP, it is one of the type URL from then on, and is filled as such.
        code = [_text(template.otp_button)]
        return [{"type": "body", "parameters": code}, _button("url", 0, code)]
    found: list[dict[str, Any]] = []
    if template.header is not None:
        found.append({"type": "header", "parameters": [_header(template.header)]})
    body = [_text(value) for value in template.parameters]
    body += [_text(value) | {"parameter_name": name} for name, value in template.named_parameters.items()]
    if body:
        found.append({"type": "body", "parameters": body})
    return found + [_button(one.type, one.index, [_parameter(one)]) for one in template.buttons]


def _text(value: str) -> dict[str, str]:
    return {"type": "text", "text": one_line(value)}


def _header(header: TemplateHeader) -> dict[str, Any]:
    if header.type == "text":
        named = {"parameter_name": header.parameter_name} if header.parameter_name is not None else {}
        return _text(header.text or "") | named
    known = (("link", header.link), ("id", header.id), ("filename", header.filename))
    file = {name: one_line(value) for name, value in known if value is not None}
    return {"type": header.type, header.type: file}


def _parameter(button: TemplateButton) -> dict[str, str]:
    match button.type:
        case "quick_reply":
            return {"type": "payload", "payload": one_line(button.text)}
        case "copy_code":
            return {"type": "coupon_code", "coupon_code": one_line(button.text)}
    return _text(button.text)


def _button(kind: str, index: int, parameters: list[dict[str, str]]) -> dict[str, Any]:
    return {"type": "button", "sub_type": kind, "index": str(index), "parameters": parameters}
