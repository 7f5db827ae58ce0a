"""The components of MJML 4 that mails may have: their attributes, and what may stand in each.

`tests/unit/notify/templates/test_npm_mjml.py` compares the table with npm's MJML.
"""

from typing import Final

from tidings.notify.templates.compile.passage import CONTENTS

_PADDING: Final = "padding padding-bottom padding-left padding-right padding-top"
_BORDER: Final = "border border-bottom border-left border-right border-top"
_FONT: Final = "font-family font-size font-weight line-height color"
_STYLED_FONT: Final = f"{_FONT} font-style text-decoration"
_ICON: Final = (
    "icon-align icon-width icon-height icon-wrapped-url icon-wrapped-alt icon-unwrapped-url icon-unwrapped-alt "
    "icon-position"
)
_SECTION: Final = (
    "background-color background-url background-repeat background-size background-position background-position-x "
    f"background-position-y {_BORDER} border-radius direction full-width {_PADDING} text-align text-padding"
)

#: What every component takes.
EVERYWHERE: Final = frozenset({"css-class", "mj-class"})
#: The attributes of each component.
ATTRIBUTES: Final[dict[str, frozenset[str]]] = {
    name: frozenset(attributes.split())
    for name, attributes in {
        "mjml": "dir lang owa",
        "mj-head": "",
        "mj-attributes": "",
        "mj-breakpoint": "width",
        "mj-preview": "",
        "mj-style": "inline",
        "mj-title": "",
        "mj-body": "background-color width",
        "mj-raw": "position",
        "mj-section": _SECTION,
        "mj-wrapper": f"{_SECTION} gap",
        "mj-group": "background-color direction vertical-align width",
        "mj-column": f"background-color {_BORDER} border-radius direction {_PADDING} inner-background-color inner-border "
        "inner-border-bottom inner-border-left inner-border-right inner-border-top inner-border-radius vertical-align "
        "width",
        "mj-hero": "mode height background-url background-width background-height background-position border-radius "
        "container-background-color inner-background-color inner-padding inner-padding-top inner-padding-left "
        f"inner-padding-right inner-padding-bottom {_PADDING} background-color vertical-align",
        "mj-text": f"align background-color container-background-color {_STYLED_FONT} height letter-spacing {_PADDING} "
        "text-transform vertical-align",
        "mj-button": f"align background-color {_BORDER} border-radius container-background-color {_STYLED_FONT} height "
        f"href name title inner-padding letter-spacing {_PADDING} rel target text-transform vertical-align text-align "
        "width",
        "mj-image": f"alt href name src srcset sizes title rel align {_BORDER} border-radius container-background-color "
        f"fluid-on-mobile {_PADDING} target width height max-height font-size usemap",
        "mj-divider": f"border-color border-style border-width container-background-color {_PADDING} width align",
        "mj-spacer": f"{_BORDER} container-background-color {_PADDING} height",
        "mj-table": f"align border cellpadding cellspacing container-background-color {_FONT} {_PADDING} role table-layout "
        "vertical-align width",
        "mj-social": f"align border-radius container-background-color {_STYLED_FONT} icon-size icon-height icon-padding "
        f"inner-padding mode {_PADDING} table-layout text-padding vertical-align",
        "mj-social-element": f"align icon-position background-color border-radius {_STYLED_FONT} href icon-size "
        f"icon-height icon-padding name {_PADDING} text-padding rel src srcset sizes alt title target vertical-align",
        "mj-navbar": "align base-url hamburger ico-align ico-open ico-close ico-color ico-font-size ico-font-family "
        "ico-text-transform ico-padding ico-padding-left ico-padding-top ico-padding-right ico-padding-bottom "
        f"{_PADDING} ico-text-decoration ico-line-height",
        "mj-navbar-link": f"{_STYLED_FONT} href name target rel letter-spacing {_PADDING} text-transform",
        "mj-accordion": f"container-background-color border font-family {_ICON} {_PADDING}",
        "mj-accordion-element": f"background-color border font-family {_ICON}",
        "mj-accordion-title": f"background-color color font-size font-family font-weight {_PADDING}",
        "mj-accordion-text": f"background-color {_FONT} letter-spacing {_PADDING}",
    }.items()
}
_IN_COLUMN: Final = (
    "mj-accordion mj-button mj-divider mj-image mj-navbar mj-raw mj-social mj-spacer mj-table mj-text"
)
#: What may stand in each; what is not here has text in it, or nothing. MJML takes `mj-raw` in more places than the
#: compiler does.
CHILDREN: Final[dict[str, frozenset[str]]] = {
    name: frozenset(children.split())
    for name, children in {
        "": "mjml",
        "mjml": "mj-body mj-head",
        "mj-head": "mj-attributes mj-breakpoint mj-preview mj-raw mj-style mj-title",
        "mj-body": "mj-hero mj-raw mj-section mj-wrapper",
        "mj-wrapper": "mj-hero mj-raw mj-section",
        "mj-section": "mj-column mj-group mj-raw",
        "mj-group": "mj-column mj-raw",
        "mj-column": _IN_COLUMN,
        "mj-hero": _IN_COLUMN,
        "mj-social": "mj-social-element",
        "mj-navbar": "mj-navbar-link",
        "mj-accordion": "mj-accordion-element",
        "mj-accordion-element": "mj-accordion-text mj-accordion-title",
    }.items()
} | {"mj-attributes": frozenset(ATTRIBUTES) - {"mjml"} | {"mj-all", "mj-class"}}
#: Attributes that the compiler does not look at, and what to do instead.
NOT_COMPILED: Final = {("mj-wrapper", "gap"): "give the sections a padding"}
#: Components of MJML that mails can't have, and what to do instead.
REFUSED: Final = {
    "mj-carousel": "works in few mail programs; show the pictures below each other with <mj-image>",
    "mj-carousel-image": "stands in <mj-carousel>, which mails can't have; write <mj-image>",
    "mj-html-attributes": "can't be compiled; write the attributes where they belong",
    "mj-selector": "can't be compiled; write the attributes where they belong",
    "mj-html-attribute": "can't be compiled; write the attributes where they belong",
}
#: Where no text may stand.
STRUCTURE: Final = frozenset(CHILDREN) - CONTENTS
#: Where nothing at all may stand.
EMPTY: Final = frozenset(ATTRIBUTES) - STRUCTURE - CONTENTS - {"mj-style"} | {"mj-all", "mj-class"}
