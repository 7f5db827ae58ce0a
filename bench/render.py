"""Rendering a 3 KB mail in sets of 1 and of 100, against bare handlebars.js in the same V8.

`bare` renders inside V8 with nothing around it: no limits, no locale, no subject, no text alternative, and
nothing handed to Python; each text is looked through once, so that V8 really puts it together. `bare_set` hands the variables in and the HTML out as JSON, in sets of 100, as a
careful programmer would. `node_set` does the same in a Node process beside. Ours brings subject, HTML and text alternative, checked links, money in the
recipient's locale. All take turns, so that a busy neighbour slows all; the median of the rounds is shown.

Run it alone with `python -m bench.render`.
"""

import json
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import uvloop
from py_mini_racer import JSFunction, MiniRacer

import tidings.notify.render as package
from bench.node import Node
from bench.node import find as find_node
from tidings.notify.render.engine import V8Renderer
from tidings.notify.render.model import Content, Rendered, RenderJob
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.model import BodyFormat, LinkPolicy, Source

SECONDS = 0.4
ROUNDS = 5
_HANDLEBARS = Path(package.__path__[0]) / "assets" / "handlebars.min.js"

#: About 3 KB when it is rendered, as a mail of middling size is.
_BODY = (
    '<h1>Thank you, {{name}}</h1><p>Your order {{number_of_order}} is on its way to you.</p><table role="presentation">'
    '{{#each items}}<tr><td style="padding:8px">{{name}}</td><td style="padding:8px">{{quantity}}</td></tr>{{/each}}'
    '</table><p>{{money total}}</p><p><a href="https://shop.example/orders/{{number_of_order}}">See your order</a></p>'
    + "".join(
        f"<p>Paragraph {n}: whoever reads so far will find the usual words about returns and care.</p>"
        for n in range(23)
    )
)
_BARE_BODY = _BODY.replace("{{money total}}", "{{total.currency}} {{total.amount_micros}}")

Work = Callable[[], Awaitable[int]]


def _variables(n: int) -> dict[str, Any]:
    return {
        "name": f"Laila {n}",
        "number_of_order": f"A-{n}",
        "items": [{"name": f"Green tea {i}", "quantity": i} for i in range(3)],
        "total": {"amount_micros": 42_500_000 + n, "currency": "USD"},
    }


async def measure() -> dict[str, float]:
    """Messages a second each way, and our share of the bare ones."""
    renderer = V8Renderer()
    await renderer.open()
    bare, bare_set = _bare()
    ways: dict[str, Work] = {
        "render_set_1": await _ours(renderer, "en", 1),
        "render_set_100": await _ours(renderer, "en", 100),
        "render_set_100_dari": await _ours(renderer, "fa-AF", 100),
        "render_bare_set_100": bare_set,
        "render_bare": bare,
    }
    async with AsyncExitStack() as stack:
        node = find_node()
        if node is not None:
            beside = Node(node, handlebars=_HANDLEBARS, template=_BARE_BODY)
            ways["render_node_set_100"] = _in_node(await stack.enter_async_context(beside))
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, work in ways.items():
                rates[name].append(await _rate(work))
    await renderer.close()
    figures = {f"{name}_per_s": statistics.median(found) for name, found in rates.items()}
    for name, against in (
        ("render_set_1", "render_bare"),
        ("render_set_100", "render_bare"),
        ("render_set_100", "render_bare_set_100"),
        *((("render_set_100", "render_node_set_100"),) if node is not None else ()),
    ):
        figures[f"{name}_ratio_to_{against.removeprefix('render_')}"] = statistics.median(
            ours / theirs for ours, theirs in zip(rates[name], rates[against], strict=True)
        )
    return figures


async def _rate(work: Work) -> float:
    started, done = time.perf_counter(), 0
    while (spent := time.perf_counter() - started) < SECONDS:
        done += await work()
    return done / spent


async def _ours(renderer: V8Renderer, locale: str, size: int) -> Work:
    source = Source(format=BodyFormat.HTML, body=_BODY, subject="Your order {{number_of_order}}")
    compiled = compile_source(source, locale=locale, links=LinkPolicy())
    content = Content(
        key=f"bench/{locale}",
        locale=locale,
        direction=compiled.direction,
        subject=compiled.subject,
        html=compiled.html,
        text=compiled.text,
    )
    jobs = [
        RenderJob(
            content=content,
            # As the worker has them: JSON that was just unsealed.
            variables=msgspec.Raw(msgspec.json.encode(_variables(n))),
            locale=locale,
            time_zone="Asia/Kabul",
            allowed_link_domains=("shop.example",),
            recipient_name="Laila",
        )
        for n in range(size)
    ]

    async def work() -> int:
        results = await renderer.render(jobs)
        if not isinstance(results[0], Rendered):
            raise TypeError(str(results[0]))
        return len(results)

    return work


def _bare() -> tuple[Work, Work]:
    racer = MiniRacer()
    racer.eval(_HANDLEBARS.read_text(encoding="utf-8"))
    racer.eval(
        f"""
        const bare = Handlebars.compile({json.dumps(_BARE_BODY)});
        const given = {json.dumps([_variables(n) for n in range(100)])};
        function again(n) {{ let size = 0; for (let i = 0; i < n; i++) size += bare(given[i % 100]).indexOf("~"); return size; }}
        function set(json) {{ return JSON.stringify(JSON.parse(json).map((one) => bare(one))); }}
        """
    )
    again, as_set = racer.eval("again"), racer.eval("set")
    if not (isinstance(again, JSFunction) and isinstance(as_set, JSFunction)):
        raise TypeError("V8 gave something else than functions")
    hundred = json.dumps([_variables(n) for n in range(100)])

    async def inside(_: MiniRacer = racer) -> int:
        # The isolate lives as long as somebody holds it.
        await again.cancelable()(2000)
        return 2000

    async def in_sets() -> int:
        return len(msgspec.json.decode(str(await as_set.cancelable()(hundred))))

    return inside, in_sets


def _in_node(node: Node) -> Work:
    given = [_variables(n) for n in range(100)]

    async def work() -> int:
        return len(await node.render(given))

    return work


def main() -> None:
    """Measure and show."""
    for name, value in uvloop.run(measure()).items():
        print(f"{name:44} {value:>12,.3f}" if value < 100 else f"{name:44} {value:>12,.0f}")


if __name__ == "__main__":
    main()
