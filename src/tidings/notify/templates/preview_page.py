"""A preview as a page: the message in a frame of its own, in which nothing runs and nothing is reached."""

import html

from tidings.notify.templates.preview_wire import PreviewView

#: Frames inherit it: images may come from where mails may have them, nothing else is fetched, nothing runs.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; "
    "frame-src 'self'; sandbox allow-popups; base-uri 'none'; form-action 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_STYLE = (
    "body{margin:0;font:15px/1.5 system-ui,sans-serif;background:#eef0f3;color:#1c2430}"
    "header{padding:16px 20px;background:#fff;border-bottom:1px solid #d5dae1}"
    "h1{font-size:18px;margin:0 0 4px}p{margin:0;color:#566172}"
    "main{display:flex;justify-content:center;padding:20px}"
    "iframe,pre{background:#fff;border:1px solid #d5dae1;border-radius:8px;max-width:100%;box-sizing:border-box}"
    "iframe{height:80vh}pre{padding:16px;white-space:pre-wrap;overflow-wrap:anywhere;font:inherit}"
)


def page(view: PreviewView) -> str:
    """The whole page."""
    title = html.escape(view.subject or view.channel)
    facts = [f"{view.locale} ({html.escape(view.locale_why)})"]
    if view.preheader:
        facts.insert(0, html.escape(view.preheader))
    if view.sms is not None:
        facts.append(f"{view.sms.encoding}, {view.sms.segments} × SMS, {view.sms.characters} characters")
    facts += [
        html.escape(f"Warning: {told.file}:{told.line}: {told.what}; {told.how}") for told in view.warnings
    ]
    lines = "".join(f"<p>{fact}</p>" for fact in facts)
    return (
        f'<!DOCTYPE html><html lang="{html.escape(view.locale)}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f'<body><header dir="{view.direction}"><h1>{title}</h1>{lines}</header><main>{_message(view)}</main></body></html>'
    )


def _message(view: PreviewView) -> str:
    width = f'style="width:{view.width}px"'
    if view.html is None:
        return f'<pre dir="{view.direction}" {width}>{html.escape(view.text or "")}</pre>'
    return f'<iframe sandbox title="message" {width} srcdoc="{html.escape(view.html)}"></iframe>'
