"""Every error has one status, one code and words that help; nothing of the inside comes out."""

import msgspec
import pytest

from tidings.kernel import errors, refusals
from tidings.kernel.http import errors as edge
from tidings.kernel.http.problems import answer, catalogue
from tidings.kernel.refusals import FieldError

CASES: list[tuple[Exception, int, str]] = [
    (errors.BadValueError("limit", "must be 1"), 400, "bad_value"),
    (refusals.InvalidError([FieldError("a", "is required")]), 400, "bad_value"),
    (edge.MalformedBodyError(), 400, "malformed_body"),
    (refusals.UnauthenticatedError(), 401, "unauthenticated"),
    (refusals.MissingScopeError("x:read"), 403, "missing_scope"),
    (refusals.TenantSuspendedError(), 403, "tenant_suspended"),
    (refusals.TenantDeletingError(), 403, "tenant_deleting"),
    (refusals.WrongTenantError(), 403, "wrong_tenant"),
    (errors.NotPermittedError("the database refused: permission denied for table x"), 403, "not_permitted"),
    (edge.NoRouteError(), 404, "no_route"),
    (refusals.NotFoundError(), 404, "not_found"),
    (edge.WrongMethodError(["GET"]), 405, "wrong_method"),
    (refusals.ConflictError(), 409, "conflict"),
    (errors.AlreadyExistsError("uq_x"), 409, "already_exists"),
    (errors.MissingReferenceError("fk_x"), 409, "missing_reference"),
    (errors.ConstraintError("ck_x"), 400, "constraint"),
    (refusals.KeyReusedError(), 409, "idempotency_key_reused"),
    (refusals.StillInProgressError(), 409, "idempotency_in_progress"),
    (refusals.StaleVersionError(), 412, "stale_version"),
    (edge.BodyTooLargeError(9), 413, "body_too_large"),
    (edge.WrongContentTypeError(), 415, "wrong_content_type"),
    (refusals.TenantFrozenError(), 423, "tenant_frozen"),
    (edge.PreconditionRequiredError(), 428, "precondition_required"),
    (errors.NotConfiguredError("no AI endpoint is set up"), 501, "not_configured"),
    (
        errors.DatabaseUnavailableError("the database can't be reached: 10.0.0.7:5432"),
        503,
        "database_unavailable",
    ),
    (errors.DatabaseBusyError(), 503, "database_busy"),
    (errors.PartitionMissingError("notification.audit"), 503, "partition_missing"),
    (refusals.UnavailableError(), 503, "unavailable"),
    (edge.BadRequestError("odd"), 400, "bad_request"),
    (OSError("secret inside"), 500, "internal"),
    (errors.DatabaseError("SELECT secret"), 500, "internal"),
    (RuntimeError("postgres://user:password@host"), 500, "internal"),
    (KeyError("inside"), 500, "internal"),
]


@pytest.mark.parametrize(("error", "status", "code"), CASES, ids=lambda case: type(case).__name__)
def test_each_error_has_its_status_and_code(error: Exception, status: int, code: str) -> None:
    given = answer(error, path="/api/v1/things", request_id="req_1")

    document = msgspec.json.decode(given.body)
    assert (given.status, document["status"], document["code"]) == (status, status, code)
    assert document["type"] == f"/docs/problems#{code}"
    assert document["request_id"] == "req_1"
    assert document["instance"] == "/api/v1/things"
    assert document["title"]
    assert document["detail"].endswith((".", "?", "…"))
    assert code in catalogue()


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("postgres://user:password@host"),
        OSError("secret password"),
        errors.DatabaseError("password"),
        errors.DatabaseUnavailableError("password 10.0.0.7"),
        errors.AlreadyExistsError("uq_password"),
        errors.NotPermittedError("password"),
    ],
)
def test_nothing_of_the_inside_comes_out(error: Exception) -> None:
    assert b"password" not in answer(error, path="/", request_id="r").body


def test_fields_are_listed_and_spelt_as_they_are() -> None:
    error = refusals.InvalidError([FieldError("name", "is required"), FieldError("a[0].b", "must be a text")])

    document = msgspec.json.decode(answer(error, path="/", request_id="r").body)

    assert document["errors"] == [
        {"field": "name", "remedy": "is required"},
        {"field": "a[0].b", "remedy": "must be a text"},
    ]
    assert document["detail"] == "name is required; a[0].b must be a text."


def test_headers_go_with_their_status() -> None:
    assert ("www-authenticate", 'Bearer realm="tidings"') in answer(
        refusals.UnauthenticatedError(), path="/", request_id=""
    ).headers
    assert ("allow", "GET, POST") in answer(
        edge.WrongMethodError(["GET", "POST"]), path="/", request_id=""
    ).headers
    assert ("retry-after", "1") in answer(errors.DatabaseBusyError(), path="/", request_id="").headers


class SpecialConflictError(refusals.ConflictError):
    """It is special."""

    code = "special"


def test_a_service_s_own_error_has_its_ancestor_s_status() -> None:
    given = answer(SpecialConflictError(), path="/", request_id="")

    assert (given.status, given.problem.code, given.problem.detail) == (409, "special", "It is special.")


@pytest.mark.parametrize("page", ["u", "p", "c", "portal"])
@pytest.mark.parametrize(
    "error",
    [errors.DatabaseBusyError("busy"), edge.WrongMethodError(["GET"]), RuntimeError("no")],
    ids=["busy", "wrong method", "a fault of ours"],
)
def test_a_link_that_is_a_secret_is_told_to_nobody(
    page: str, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in the answer nor in the log: whoever reads it could unsubscribe somebody, or look after their webhooks."""
    told = answer(error, path=f"/{page}/AaI2oDoASecret", request_id="req_1")

    assert told.problem.instance == f"/{page}/…"
    assert "AaI2oDoASecret" not in "".join(capsys.readouterr()) + told.body.decode()


@pytest.mark.parametrize(("kind", "shown"), [(refusals.ConflictError, True), (errors.TidingsError, False)])
def test_an_error_may_add_members_unless_it_is_our_own_failure(
    kind: type[errors.TidingsError], shown: bool
) -> None:
    error = kind("it is taken")
    error.extensions = {"report": ["line 3"]}

    body = msgspec.json.decode(answer(error, path="/", request_id="").body)

    assert body.get("report") == (["line 3"] if shown else None)
    assert body["code"] == kind.code
