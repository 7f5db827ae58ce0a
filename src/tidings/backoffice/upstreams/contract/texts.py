"""Texts of answers, with bounds: what is larger is no name and no title."""

from typing import Annotated

from msgspec import Meta

UpstreamId = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]*\Z")]
ShortText = Annotated[str, Meta(max_length=200)]
LongText = Annotated[str, Meta(max_length=4000)]
Count = Annotated[int, Meta(ge=0)]
