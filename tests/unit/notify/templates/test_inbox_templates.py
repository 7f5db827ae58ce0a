"""What the validator says about templates for the in-app inbox."""

import pytest

from tests.support.rendering import Rendering
from tests.support.versions import draft_version, validated
from tidings.notify.templates.model import BodyFormat, Source


def errors(rendering: Rendering, source: Source) -> list[str]:
    report = validated(rendering, draft_version({"en": source}), channel="inapp")
    return [finding.what for finding in report.errors]


def test_a_document_and_a_text_are_fine(rendering: Rendering) -> None:
    document = '{"title": "A parcel", "actions": [{"name": "accept", "label": "Accept"}]}'

    assert errors(rendering, Source(format=BodyFormat.JSON, body=document)) == []
    assert errors(rendering, Source(format=BodyFormat.TEXT, subject="A parcel", body="It is here.")) == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (Source(format=BodyFormat.JSON, body='{"titel": "A parcel"}'), "title is required"),
        (Source(format=BodyFormat.JSON, body='{"title": "x", "link": "javascript:x"}'), "link must begin"),
        (Source(format=BodyFormat.TEXT, body="No subject"), "subject must have"),
        (Source(format=BodyFormat.HTML, subject="x", body="<p>x</p>"), "can't be sent by inapp"),
    ],
)
def test_what_is_no_item_is_refused(rendering: Rendering, source: Source, said: str) -> None:
    found = errors(rendering, source)

    assert any(said in what for what in found), found
