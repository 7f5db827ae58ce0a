"""The page about the platform's templates, made from them: what each says, looks like and takes."""

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tools.platform_renders import Render

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "platform-templates.md"
_HEAD: Final = """# The platform's templates

Every tenant can send these from the first minute; a template of its own with the same key and channel wins over them.
They are in English, French, Arabic, Dari and Pashto, and written from right to left where that is due.
A key takes the same variables in every channel, so that `"channel": "auto"` works.
[templates.md](templates.md#the-platforms-templates) says how they are published and changed.

The mails share one look, in `src/tidings/notify/templates/platform/shared/`: `<t-button to="{{url}}">words</t-button>` in a layout is `shared/button.mjml`, with `[[to]]` and `[[inside]]` filled in, and `<t-mail>` is the frame around everything.
Each picture shows the five languages at 640 points, and below at 360, by day and in the dark.
A variable in bold is required.
`make pictures` photographs them in Chromium and writes this page; single pictures go to `build/pictures`.
"""


def platform_page(renders: Sequence[Render]) -> str:
    """The page; `renders` are all templates in all locales with their first sample."""
    keys = dict.fromkeys(render.template.key for render in renders)
    sections = [_section(key, [each for each in renders if each.template.key == key]) for key in keys]
    return "\n".join([_HEAD, *sections])


def _section(key: str, renders: Sequence[Render]) -> str:
    channels = ", ".join(dict.fromkeys(f"`{each.template.channel}`" for each in renders))
    first = renders[0].template
    lines = [
        f"## {key}",
        "",
        f"Channels: {channels}. Category: `{first.spec.category}`.",
        "",
        *_variables(first.spec.variables_schema),
    ]
    for channel in dict.fromkeys(each.template.channel for each in renders):
        lines += ["", *_shown(key, channel, [each for each in renders if each.template.channel == channel])]
    return "\n".join([*lines, ""])


def _shown(key: str, channel: str, renders: Sequence[Render]) -> list[str]:
    if renders[0].message.html is not None:
        name = f"{key}.{channel}.png"
        return [f"[![{key} as {channel}](images/templates/{name})](images/templates/{name})"]
    rows = [
        f'| `{each.locale}` | <span dir="{each.message.direction}">{_cell(_said(each))}</span> |'
        for each in renders
    ]
    return [f"| {channel} | |", "|---|---|", *rows, *_registered(renders)]


def _said(render: Render) -> str:
    """The text, below its title where it has one."""
    return "\n".join(part for part in (render.message.subject, render.message.text) if part)


def _registered(renders: Sequence[Render]) -> list[str]:
    """What has to be registered with WhatsApp, where it takes only what it knows."""
    sources = [each.template.spec.locales[each.locale] for each in renders]
    known = [source.whatsapp for source in sources if source.whatsapp is not None]
    if not known:
        return []
    languages = ", ".join(f"`{reference.language}`" for reference in known)
    filled = ", ".join(f"`{value}`" for _, value in known[0].values())
    code = known[0].otp_button is not None
    where = "in its body and its button" if code else "in its place"
    kind = ", as an authentication template with a button for the code" if code else ""
    return [
        "",
        f"WhatsApp sends it by its own template `{known[0].name}`, with {filled} {where}.",
        f"The sender's account must have registered it in {languages}{kind}.",
        "The text above is for whatever passes texts on as they are.",
    ]


def _variables(schema: Mapping[str, Any]) -> list[str]:
    rows = [
        f"| {_name(name, name in schema.get('required', ()))} | {_kind(about, schema)} | {about.get('description', '')} |"
        for name, about in schema["properties"].items()
    ]
    return ["| variable | is | meaning |", "|---|---|---|", *rows]


def _name(name: str, required: object) -> str:
    return f"**`{name}`**" if required else f"`{name}`"


def _kind(about: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if "$ref" in about:
        about = schema["$defs"][about["$ref"].rpartition("/")[2]]
    if about["type"] == "object":
        return "`{" + ", ".join(about["properties"]) + "}`"
    if about["type"] == "array":
        wanted = about["items"].get("required", ())
        return "list of " + ", ".join(_name(name, name in wanted) for name in about["items"]["properties"])
    return {"date-time": "moment", "uri": "link"}.get(about.get("format", ""), str(about["type"]))


def _cell(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "\\|").replace("*", "\\*").replace("\n", "<br>")
