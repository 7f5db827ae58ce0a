"""What must never reach a log does not."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from tidings.kernel import logs


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("mail to bob.smith@example.co.uk failed", "mail to *** failed"),
        ("to <bob@example.org>, done", "to <***>, done"),
        ("call +93 70 123 4567 now", "call *** now"),
        ("sms 0700123456", "sms ***"),
        ("postgresql://owner:s3cret@db:5432/tidings", "postgresql://***@db:5432/tidings"),
        ("key tdk_01ABC_c2VjcmV0", "key tdk_***"),
        ("Authorization: Bearer abcdefghijkl", "Authorization: bearer ***"),
        ("at 2026-11-15 10:18:40.739 UTC", "at 2026-11-15 10:18:40.739 UTC"),
        ("listening on 127.0.0.1:8080, pid 35110", "listening on 127.0.0.1:8080, pid 35110"),
        (
            "ntf_01M7FB7HCA3NBVM4J0BZ5BZ2NZ took 1234.567 ms",
            "ntf_01M7FB7HCA3NBVM4J0BZ5BZ2NZ took 1234.567 ms",
        ),
    ],
)
def test_text_is_redacted_by_shape(said: str, shown: str) -> None:
    """Addresses, numbers and credentials go; times, ports, ids and measures stay."""
    assert logs.redact_text(said) == shown


@given(
    local=st.from_regex(r"[a-z0-9][a-z0-9._+-]{0,20}", fullmatch=True),
    domain=st.from_regex(r"[a-z0-9]{1,20}\.(org|com|af|example)", fullmatch=True),
    around=st.text(alphabet="abc <>\"'(),;\n", max_size=10),
)
def test_no_mail_address_survives(local: str, domain: str, around: str) -> None:
    """Wherever it stands in a text."""
    assert f"{local}@{domain}" not in logs.redact_text(f"{around} {local}@{domain} {around}")


def test_fields_are_redacted_by_name() -> None:
    """However deep they are; ids and hashes of the same thing stay readable."""
    shown = logs.redact(
        {"password": "x", "to": {"email": "a", "nested": [{"phone": 1}]}, "address_hash": "sha256:0", "body": b"b",
         "template_id": "tpl_1", "payload": b"123"}
    )  # fmt: skip

    assert shown == {
        "password": "***",
        "to": {"email": "***", "nested": [{"phone": "***"}]},
        "address_hash": "sha256:0",
        "body": "***",
        "template_id": "tpl_1",
        "payload": "<3 bytes>",
    }


@pytest.fixture
def logging_restored() -> Iterator[None]:
    """Whatever a test configures writes to its own captured stream: put back what was there before."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


@pytest.mark.usefixtures("logging_restored")
def test_a_traceback_and_a_library_are_redacted_too(capsys: pytest.CaptureFixture[str]) -> None:
    """Both go through the same processor."""
    logs.configure(style="json")
    log = logs.get_logger("test")

    try:
        raise ValueError("bob@example.org is not here")
    except ValueError:
        log.exception("it_failed", tenant_id="tnt_1")
    logging.getLogger("library").warning("sent to %s", "eve@example.org")

    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["it_failed", "sent to ***"]
    assert lines[0]["tenant_id"] == "tnt_1"
    assert "*** is not here" in lines[0]["exception"]
    assert "example.org" not in json.dumps(lines)


@pytest.mark.usefixtures("logging_restored")
def test_a_stream_that_was_closed_since_is_not_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines go where stderr is now, not where it was when logging was set up."""
    first, second = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stderr", first)
    logs.configure(style="json")
    log = logs.get_logger("test")
    log.info("one")
    first.close()
    monkeypatch.setattr("sys.stderr", second)

    log.info("two")
    logging.getLogger("library").warning("three")

    assert [json.loads(line)["event"] for line in second.getvalue().splitlines()] == ["two", "three"]
