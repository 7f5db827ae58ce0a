"""Signature Version 4, by the examples of AWS."""

from datetime import UTC, datetime

import pytest

from tidings.router.adapters.ses.sigv4 import Credentials, signed, signing_key

#: Of the documentation and of the test suite that AWS published.
WHO = Credentials(access_key_id="AKIDEXAMPLE", secret_access_key="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
AT = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)


def test_the_example_of_the_documentation() -> None:
    """ "Signature Version 4 signing process": a GET of IAM's ListUsers."""
    found = signed(
        WHO,
        method="GET",
        url="https://iam.amazonaws.com/?Version=2010-05-08&Action=ListUsers",
        headers={"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
        body=b"",
        region="us-east-1",
        service="iam",
        at=AT,
    )

    assert found["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    )
    assert found["X-Amz-Date"] == "20150830T123600Z"


def test_the_key_of_the_documentation() -> None:
    """ "Deriving the signing key"."""
    key = signing_key(WHO.secret_access_key, "20150830", "us-east-1", "iam")

    assert key.hex() == "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "signature"),
    [
        ("GET", "/", {}, b"", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "/", {}, b"", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            "GET",
            "/?Param2=value2&Param1=value1",
            {},
            b"",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        (
            "POST",
            "/",
            {"Content-Type": "application/x-www-form-urlencoded"},
            b"Param1=value1",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
    ],
)
def test_the_suite_of_aws(
    method: str, path: str, headers: dict[str, str], body: bytes, signature: str
) -> None:
    """get-vanilla, post-vanilla, get-vanilla-query-order-key-case, post-x-www-form-urlencoded."""
    found = signed(
        WHO,
        method=method,
        url=f"https://example.amazonaws.com{path}",
        headers=headers,
        body=body,
        region="us-east-1",
        service="service",
        at=AT,
    )

    assert found["Authorization"].endswith(f"Signature={signature}")


def test_a_token_is_signed_too() -> None:
    """And nothing secret shows."""
    who = Credentials(access_key_id="AKID", secret_access_key="hunter2", session_token="hunter3")
    found = signed(
        who,
        method="GET",
        url="http://127.0.0.1:8025/ses/v2/email/account",
        headers={},
        body=b"",
        region="eu-west-1",
        service="ses",
        at=AT,
    )

    assert found["X-Amz-Security-Token"] == "hunter3"
    assert "SignedHeaders=host;x-amz-date;x-amz-security-token," in found["Authorization"]
    assert "hunter" not in repr(who)
