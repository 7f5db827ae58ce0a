"""The editor: two languages side by side, each with its texts, what is wrong with them, and what people would see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, filled, join
from tidings.backoffice.console.kit.differences import marked
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    hidden,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import more, note, section
from tidings.backoffice.console.kit.tables import address
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.templates.editor_form import (
    PARTS,
    SIDES,
    USUAL_FORMAT,
    EditorFault,
    TypedVersion,
    formats_of,
    is_rtl,
    pretty,
    texts_of,
)
from tidings.backoffice.console.templates.faults import beside, elsewhere, verdict
from tidings.backoffice.console.templates.paths import HERE, template_path, version_path
from tidings.backoffice.console.templates.shapes import mail_frame, preview
from tidings.backoffice.console.templates.version_actions import actions, provenance
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

#: A preview that was not possible is asked for again after so long.
_AGAIN_SECONDS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a locale would look like; None: the API can't show it, and says why."""

    preview: Mapping[str, Any] | None
    why: str = ""
    #: Whether it can be shown in some seconds as it is.
    is_busy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateEditor:
    """All that the page shows."""

    key: str
    channel: str
    owner: str | None
    typed: TypedVersion
    #: The locales side by side, one or two.
    tags: tuple[str, ...]
    shown: Sequence[Shown]
    #: What the validator says; None: it was not asked.
    faults: tuple[EditorFault, ...] | None
    #: Which version the texts were made from.
    made_from: int
    #: What was chosen for the previews.
    fields: Mapping[str, str]
    layouts: Sequence[str]
    names: Mapping[str, str]
    #: Who asks for an approval, where somebody does.
    asked_by: str | None = None
    #: What is stored now, where somebody else has changed it meanwhile.
    theirs: Mapping[str, Any] | None = None


def editor_page(
    visit: Visit, editor: TemplateEditor, *, told: Told | None = None, status: int = 200
) -> Reply:
    """A version: to be edited where it is a draft of one's own, to be looked at otherwise."""
    words, version = visit.words, editor.typed.version
    path = version_path(editor.key, editor.channel, version["semver"])
    may_edit = editable(visit, editor)
    columns = [_side(visit, editor, place, may_edit=may_edit) for place in range(len(editor.tags))]
    parts: list[Child] = [
        verdict(words, editor.faults) if may_edit else None,
        elsewhere(words, editor.faults or (), _shown_fields(editor)),
        _conflict(visit, editor),
        _choices(visit, editor),
        el("div", columns, class_="split sides" if len(columns) > 1 else "sides"),
        _around(visit, editor, may_edit=may_edit),
    ]
    form = post_form(
        visit.reader,
        f"{path}/save",
        hidden("version", str(editor.made_from)),
        [hidden(side, tag) for side, tag in zip(SIDES, editor.tags, strict=False)],
        hidden("owner", editor.owner or ""),
        parts,
        id="editor",
        data_preview=f"{path}/preview",
        data_targets=" ".join(targets(editor)),
        data_guard=True if may_edit else None,
    )
    return page(
        words,
        f"{editor.key} {version['semver']} · {words.channel(editor.channel)}",
        join(provenance(visit, editor.names, version, editor.asked_by), form),
        reader=visit.reader,
        here=HERE,
        trail=[
            (words["templates.title"], HERE),
            (
                f"{editor.key} · {words.channel(editor.channel)}",
                template_path(editor.key, editor.channel, editor.owner),
            ),
        ],
        actions=actions(
            visit,
            editor.key,
            editor.channel,
            version,
            may_edit=may_edit,
            of_other=_of_other(visit, editor),
            asked_by=editor.asked_by,
        ),
        told=told or visit.told(),
        wide=True,
        status=status,
    )


def editable(visit: Visit, editor: TemplateEditor) -> bool:
    """Whether whoever looks may change it."""
    is_draft = editor.typed.version["status"] == "draft"
    return visit.may("templates:write") and is_draft and not _of_other(visit, editor)


def _of_other(visit: Visit, editor: TemplateEditor) -> bool:
    """Whether it is the platform's, and a tenant looks at it."""
    return editor.owner == "platform" and not visit.tenant_is_missing


def targets(editor: TemplateEditor) -> list[str]:
    """What is taken from the answer while somebody types."""
    found = ["verdict", "other-faults"]
    for side in SIDES[: len(editor.tags)]:
        found.append(f"{side}-preview")
        found.extend(f"{side}-{name}-faults" for name in texts_of(editor.channel))
    return [*found, *(f"{name}-faults" for name in PARTS)]


def _side(visit: Visit, editor: TemplateEditor, place: int, *, may_edit: bool) -> Html:
    words, tag, side = visit.words, editor.tags[place], SIDES[place]
    source = editor.typed.version["locales"].get(tag, {})
    fields = [_text(visit, editor, place, name, may_edit=may_edit) for name in texts_of(editor.channel)]
    formats = formats_of(editor.channel)
    if len(formats) > 1:
        chosen = source.get("format", USUAL_FORMAT)
        options = [(one, one.upper() if one in ("html", "mjml", "json") else one.title()) for one in formats]
        fields.insert(
            -1,
            select_field(f"{side}-format", words["templates.format"], options, chosen, disabled=not may_edit),
        )
    shown = editor.shown[place]
    picture = el("div", _picture(words, shown, f"{side}-html"), id=f"{side}-preview", aria_live="off")
    frame: Child = None
    if editor.channel == "email":
        path = version_path(editor.key, editor.channel, editor.typed.version["semver"], "/frame")
        saved = address(path, {"locale": tag, "sample": editor.fields.get("sample"), "owner": editor.owner})
        frame = mail_frame(f"{words['templates.preview']}: {tag}", f"{side}-html", saved)
    heading = filled("{name}", name=language_name(words, tag))
    title = el("h2", heading, " ", el("code", tag, dir="ltr"))
    look = el("div", el("h3", words["templates.preview"]), picture, frame, class_="look")
    return el(
        "section", title, fields, look, class_="card", aria_label=f"{words['templates.language']} {tag}"
    )


def _text(visit: Visit, editor: TemplateEditor, place: int, name: str, *, may_edit: bool) -> Html:
    words, tag = visit.words, editor.tags[place]
    where, id_ = f"locales.{tag}.{name}", f"{SIDES[place]}-{name}"
    source: Mapping[str, Any] = editor.typed.version["locales"].get(tag, {})
    rtl = is_rtl(tag, editor.typed.version)
    faults = beside(words, editor.typed, editor.faults or (), where, f"{id_}-faults")
    label = words[f"templates.field.{name}"]
    value = source.get(name)
    given = editor.typed.unreadable.get(where, pretty(value) if name == "whatsapp" else value or "")
    # Source is read from left to right, whatever its words are.
    markup = name == "whatsapp" or (
        name == "body" and source.get("format", USUAL_FORMAT) in ("html", "mjml", "json")
    )
    common: dict[str, Any] = {
        "readonly": not may_edit,
        "dir": "ltr" if markup else "rtl" if rtl else "ltr",
        "lang": None if markup else tag,
        "spellcheck": "false" if markup else None,
        "aria_errormessage": f"{id_}-faults",
    }
    if name in ("subject", "preheader"):
        return join(text_field(id_, label, given, maxlength=1000, **common), faults)
    rows = 14 if editor.channel == "email" and name == "body" else 6
    field = area_field(id_, label, given, rows=rows, **common)
    if name in ("text", "whatsapp"):
        return join(more(label, field, open_=bool(given)), faults)
    return join(field, faults)


def _picture(words: ConsoleStrings, shown: Shown, id_: str) -> Html:
    if shown.is_busy:
        return el("p", shown.why, class_="note info", data_again=_AGAIN_SECONDS)
    if shown.preview is None:
        return note(words["templates.no_preview"], " ", el("span", shown.why, dir="auto"))
    return preview(words, shown.preview, id_=id_)


def _choices(visit: Visit, editor: TemplateEditor) -> Html:
    """With which variables, for whom, how wide, and in which languages."""
    words, version, fields = visit.words, editor.typed.version, editor.fields
    samples = [(name, name) for name in version["preview_samples"]]
    parts: list[Child] = []
    if samples:
        parts.append(select_field("sample", words["templates.sample"], samples, fields.get("sample")))
    if visit.may("recipients:read") and not visit.tenant_is_missing:
        parts.append(
            text_field(
                "recipient",
                words["templates.recipient"],
                fields.get("recipient"),
                placeholder="rcp_…",
                dir="ltr",
                spellcheck="false",
                autocomplete="off",
            )
        )
    known = [(tag, f"{language_name(words, tag)} ({tag})") for tag in version["locales"]]
    if len(known) > 1:
        left, right = editor.tags[0], editor.tags[1] if len(editor.tags) > 1 else ""
        parts.append(select_field("show_left", words["templates.left"], known, left))
        parts.append(select_field("show_right", words["templates.right"], known, right))
    if editable(visit, editor):
        parts.append(
            text_field(
                "add_language",
                words["templates.add_language"],
                placeholder="fa-AF",
                dir="ltr",
                maxlength=35,
                spellcheck="false",
                autocomplete="off",
            )
        )
    does = words["templates.show"] if editable(visit, editor) else words["templates.look"]
    show = button(does, "quiet", name="do", value="show")
    width = el(
        "fieldset",
        el("legend", words["templates.width"], class_="unseen"),
        _width(words, "desktop", fields),
        _width(words, "mobile", fields),
        class_="actions",
    )
    return el("div", parts, show, width if editor.channel == "email" else None, class_="filters card")


def _width(words: ConsoleStrings, width: str, fields: Mapping[str, str]) -> Html:
    box = el(
        "input",
        type="radio",
        name="width",
        value=width,
        id=f"width-{width}",
        checked=fields.get("width", "desktop") == width,
    )
    return el("label", box, el("span", words[f"templates.width.{width}"]), class_="check")


def _around(visit: Visit, editor: TemplateEditor, *, may_edit: bool) -> Html:
    """What all languages share: variables, samples, strings, partials, the layout."""
    words, version = visit.words, editor.typed.version

    def part(name: str) -> Html:
        text = editor.typed.unreadable.get(name, pretty(version[name]))
        field = area_field(
            name,
            words[f"templates.part.{name}"],
            text,
            rows=10,
            hint=words[f"templates.hint.{name}"],
            readonly=not may_edit,
            dir="ltr",
            spellcheck="false",
        )
        return el("div", field, beside(words, editor.typed, editor.faults or (), name, f"{name}-faults"))

    layouts = [("", words["templates.no_layout"]), *((one, one) for one in editor.layouts)]
    if version["layout"] and version["layout"] not in editor.layouts:
        layouts.append((version["layout"], version["layout"]))
    layout: Child = None
    if editor.channel == "email" and len(layouts) > 1:
        layout = select_field(
            "layout", words["templates.layout"], layouts, version["layout"] or "", disabled=not may_edit
        )
    variables = el("div", part("variables_schema"), part("preview_samples"), class_="split")
    others = el("div", part("strings"), part("partials"), class_="split")
    has_others = bool(version["strings"] or version["partials"])
    return section(
        words["templates.variables"],
        variables,
        more(words["templates.strings_partials"], layout, others, open_=has_others),
        id_="around",
    )


def _conflict(visit: Visit, editor: TemplateEditor) -> Child:
    """Somebody else has saved meanwhile: what differs between theirs and what was typed."""
    if editor.theirs is None:
        return None
    words = visit.words
    parts: list[Child] = []
    for tag in editor.tags:
        stored, typed = editor.theirs["locales"].get(tag, {}), editor.typed.version["locales"].get(tag, {})
        for name in texts_of(editor.channel):
            one, two = stored.get(name) or "", typed.get(name) or ""
            if name != "whatsapp" and one != two:
                parts.append(el("h3", f"{tag} · {words[f'templates.field.{name}']}"))
                parts.append(el("pre", marked(one, two), class_="diff", dir="auto", tabindex="0"))
    over = button(words["templates.overwrite"], "grave", name="do", value="overwrite")
    return section(
        words["templates.conflict"],
        el("p", words["templates.conflict_text"]),
        parts,
        el("div", over, class_="actions"),
        id_="conflict",
    )


def _shown_fields(editor: TemplateEditor) -> list[str]:
    names = texts_of(editor.channel)
    return [*(f"locales.{tag}.{name}" for tag in editor.tags for name in names), *PARTS]


def language_name(words: ConsoleStrings, tag: str) -> str:
    """What the reader's language calls a language."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(tag, sep="-").get_display_name(words.language.replace("-", "_")) or tag
    except (UnknownLocaleError, ValueError):
        return tag
