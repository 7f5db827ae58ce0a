"""What the rendering tests share."""

from collections.abc import Iterator

import pytest

from tests.support.rendering import Rendering


@pytest.fixture(scope="module")
def rendering() -> Iterator[Rendering]:
    """One isolate for a file of tests."""
    rendering = Rendering()
    yield rendering
    rendering.close()
