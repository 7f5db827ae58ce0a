"""What goes into rendering and what comes out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, Protocol

import msgspec

Direction = Literal["ltr", "rtl"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One locale of a published version, compiled: Handlebars sources that are ready to be filled."""

    #: The same key always means the same sources: `key_of_sources`, where they are published.
    key: str
    #: The language that the texts are written in.
    locale: str
    direction: Direction
    subject: str | None
    html: str | None
    text: str | None
    #: A JSON document: a template registered with WhatsApp, and its parameters.
    whatsapp: str | None = None

    @property
    def expressions(self) -> int:
        """About how many expressions the sources have."""
        return sum(part.count("{{") for part in (self.subject, self.html, self.text, self.whatsapp) if part)

    @property
    def size(self) -> int:
        """About how many bytes the compiled code takes, for the memory of compiled code."""
        return 4 * sum(len(part) for part in (self.subject, self.html, self.text, self.whatsapp) if part)


def key_of_sources(*sources: str | None) -> str:
    """A key for sources that are the same for many tenants, as customised templates often are: they are compiled once."""
    digest = sha256()
    for source in sources:
        encoded = b"" if source is None else source.encode("utf-8", "surrogatepass")
        # With its length, so that no text can pass for two.
        digest.update(f"{'-' if source is None else len(encoded)}:".encode())
        digest.update(encoded)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """Whom a message is of, as it looks: `@brand`."""

    name: str = ""
    logo_url: str | None = None
    #: `#rrggbb`; ours where nobody has said.
    color: str = "#1f6f5c"
    #: What is written on that colour.
    on_color: str = "#ffffff"
    footer: str | None = None
    support_url: str | None = None
    #: Names this look.
    theme_etag: str = ""


class RenderJob(msgspec.Struct, frozen=True, kw_only=True):
    """One message to be rendered."""

    content: Content
    #: The tenant that its time is charged to, and that takes turns with others; empty: the platform.
    tenant: str = ""
    #: What the caller sent, validated; raw JSON spares a decoding and an encoding.
    variables: Mapping[str, Any] | msgspec.Raw
    #: The recipient's language; numbers and dates follow it where it is the language of the texts.
    locale: str
    #: An IANA name.
    time_zone: str = "UTC"
    #: Links lead there only; empty: anywhere.
    allowed_link_domains: tuple[str, ...] = ()
    #: `@recipient.name`.
    recipient_name: str | None = None
    #: `@tenant.name`.
    tenant_name: str | None = None
    #: `@brand`.
    brand: Brand = Brand()
    #: `@links.unsubscribe`.
    unsubscribe_url: str | None = None
    #: `@links.preferences`.
    preferences_url: str | None = None


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """A message as the person will see it."""

    subject: str | None
    html: str | None
    text: str | None
    #: The language of the texts.
    locale: str
    direction: Direction
    #: A JSON document: a template registered with WhatsApp, and its parameters.
    whatsapp: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderFailed:
    """This message can't be rendered, now or later; the others of its set can."""

    #: `too_many_steps too_large too_deep link_not_allowed bad_value template_broken`; of those that a child was ended for:
    #: `took_too_long needed_too_much_memory killed_the_renderer`.
    code: str
    #: What happened, without any of the content.
    detail: str
    #: The language of the texts.
    locale: str = ""
    #: `file:line:expression` where it is known; the expression as it was written, never its value.
    place: str = ""

    @property
    def where(self) -> str:
        """Where the fault lies, as exactly as it is known."""
        return self.place or self.locale


class Renderer(Protocol):
    """Renders sets of messages."""

    async def render(self, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        """One result for each job, in their order; a job that fails harms no other."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderLimits:
    """What one message may use up before it is refused."""

    #: Expressions evaluated, turns of loops, calls of helpers and partials, pieces of text.
    steps: int = 100_000
    #: Partials within partials.
    depth: int = 16
    #: Characters of one part.
    output: int = 1_000_000
    #: Characters of one expression, at publishing.
    longest_expression: int = 4_000
    #: Seconds of processor time for a set; the last resort, because steps are counted anyway.
    seconds: float = 2.0
    #: Seconds after which no further message of a set is begun, so that others have their turn.
    slice_seconds: float = 0.05
    #: Bytes of V8's heap; beyond it the child is ended and a new one is started.
    heap_bytes: int = 128 * 1024 * 1024
    #: Bytes that a child may take beyond what it has when it is ready.
    memory_bytes: int = 320 * 1024 * 1024
    #: Bytes of a child in the machine's memory, whatever they are for.
    resident_bytes: int = 512 * 1024 * 1024
    #: Bytes of compiled code that are kept.
    code_bytes: int = 32 * 1024 * 1024
    #: Messages in one call into V8; more at once and their texts survive into V8's costlier collections.
    set_size: int = 40
    #: How far a child steps back from the processor for others.
    nice: int = 0
