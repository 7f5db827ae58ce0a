"""Zips of templates, sound and hostile."""

import io
import json
import zipfile
from collections.abc import Iterable
from typing import Any

HOME = "templates/welcome/email"


def facts(semver: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    """A `template.json`."""
    return {
        "semver": semver,
        "category": "transactional",
        "default_locale": "en",
        "default_priority": "normal",
        "variables_schema": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {"name": {"type": "string"}},
        },
        "preview_samples": {"usual": {"name": "Laila"}},
    } | changes


def bundle(semver: str = "1.0.0", **changes: Any) -> dict[str, bytes]:
    """The files of one template in two languages."""
    return {
        f"{HOME}/template.json": json.dumps(facts(semver, **changes)).encode(),
        f"{HOME}/en/subject.txt": b"Hello {{name}}\n",
        f"{HOME}/en/body.html": f"<p>Hello {{{{name}}}}, this is {semver}.</p>\n".encode(),
        f"{HOME}/ps-AF/subject.txt": "سلام {{name}}\n".encode(),
        f"{HOME}/ps-AF/body.html": "<p>سلام {{name}}</p>\n".encode(),
    }


def zipped(files: dict[str, bytes] | Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    """A zip of these, whatever they are called and however often."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items() if isinstance(files, dict) else files:
            packed.writestr(name, content, zipfile.ZIP_DEFLATED)
    return into.getvalue()


def entry(name: str, *, mode: int = 0o100644) -> zipfile.ZipInfo:
    """An entry of any kind: `0o120777` is a link."""
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    return made
