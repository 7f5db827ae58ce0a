"""The text alternative reads as somebody would type it."""

import pytest

from tests.support.rendering import Rendering, compile_html, compiled_content
from tidings.notify.render.model import Rendered


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<h1>Title</h1><div>a</div><div>b</div>", "Title\n\na\nb"),
        ("a<br>b", "a\nb"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<p>x &amp; y &lt;z&gt;</p>", "x & y <z>"),
        ('<a href="https://x.example/">Shop</a>', "Shop (https://x.example/)"),
        ('<a href="https://x.example/">https://x.example/</a>', "https://x.example/"),
        ('<a href="mailto:a@x.example">Write</a>', "Write"),
        ('<img src="cid:a" alt="Logo">', "Logo"),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a  b\n1  2"),
        ("<table>\n<tr>\n  <td>a</td>\n  <td>b</td>\n</tr>\n</table>", "a  b"),
        ('<div style="display: none">hidden</div>seen', "seen"),
        ('<img src="cid:a" alt="+" style="display: none">seen', "seen"),
        ("<p>a</p><hr><p>b</p>", "a\n\n----------\n\nb"),
    ],
)
def test_html_as_text(html: str, text: str) -> None:
    assert compile_html(html).text == text


def test_blocks_leave_no_empty_lines_behind(rendering: Rendering) -> None:
    compiled = compile_html(
        "<div>Items</div><table>{{#each items}}<tr><td>{{name}}</td><td>{{n}}</td></tr>{{/each}}</table>"
        "{{#if note}}<div>{{note}}</div>{{/if}}<div>Bye</div>"
    )
    values = {"items": [{"name": "a & b", "n": 1}, {"name": "c", "n": 2}]}

    done = rendering.job(compiled_content(compiled, "en"), values)

    assert isinstance(done, Rendered)
    assert done.text == "Items\na & b  1\nc  2\nBye"


def test_the_links_of_a_text_are_plain() -> None:
    compiled = compile_html('<a href="https://x.example/?a=1&amp;b={{c}}">go</a>')

    assert compiled.text == "go ({{#tidings_href}}https://x.example/?a=1&b={{c}}{{/tidings_href}})"
