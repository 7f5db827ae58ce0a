"""Bodies of requests that make versions."""

from typing import Any


def draft(semver: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    """A version that can be published."""
    return {
        "semver": semver,
        "category": "transactional",
        "default_locale": "en",
        "variables_schema": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {"name": {"type": "string"}, "url": {"type": "string"}},
        },
        "locales": {
            "en": {
                "format": "html",
                "subject": f"Hello {{{{name}}}} {semver}",
                "body": f"<p>Hello {{{{name}}}}, this is {semver}.</p>",
            },
            "fa-AF": {"format": "html", "subject": "سلام {{name}}", "body": "<p>سلام {{name}}</p>"},
        },
        "preview_samples": {"usual": {"name": "Laila"}},
    } | changes


def later(semver: str, **changes: Any) -> dict[str, Any]:
    """A version after the first: the template's own facts are left out."""
    made = draft(semver, **changes)
    del made["category"], made["default_locale"]
    return made
