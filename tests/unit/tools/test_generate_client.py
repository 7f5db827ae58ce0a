"""The generated client has a typed method for every operation of the document, for both clients alike."""

import inspect
from collections.abc import AsyncIterator, Iterator
from importlib import import_module
from typing import Any

import pytest
from tools.client_operations import PLATFORM, Operation, operations, singular
from tools.generate_client import safe

from tests.support.released_openapi import today
from tidings_client import AsyncTidings, Tidings
from tidings_client.namespaces import Resources

OPERATIONS = operations(today())


def method(client: type[Tidings] | type[AsyncTidings], operation: Operation) -> Any:
    """The method of that client for an operation."""
    api = import_module("tidings_client.api")
    prefix = "Async" if client is AsyncTidings else ""
    which = "Platform" if operation.home == PLATFORM else "Tenant"
    resources: type[Resources] = getattr(api, f"{prefix}{which}Resources")
    name = operation.resource.replace("-", "_")
    module = import_module(f"tidings_client.api.{name}")
    return getattr(getattr(module, resources._CLASSES[name]), safe(operation.verb))


def _names(signature: inspect.Signature) -> list[tuple[str, object]]:
    # Files may come from an asynchronous iterator in one of them.
    return [(one.name, one.kind) for one in signature.parameters.values()]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_every_operation_has_the_same_typed_method_in_both_clients(operation: Operation) -> None:
    usual, awaited = (inspect.signature(method(client, operation)) for client in (Tidings, AsyncTidings))

    assert _names(usual) == _names(awaited)
    if not operation.files:
        assert usual.parameters == awaited.parameters
    assert list(usual.parameters)[1 : 1 + len(operation.path_parameters)] == operation.path_parameters
    assert {safe(one["name"]) for one in operation.query} <= set(usual.parameters)
    assert ("body" in usual.parameters) is (operation.body is not None)
    assert ("if_match" in usual.parameters) is (operation.header("If-Match") is not None)
    assert ("idempotency_key" in usual.parameters) is (operation.header("Idempotency-Key") is not None)
    pieces = operation.answer[0] not in (None, "application/json")
    if pieces:
        assert (usual.return_annotation, awaited.return_annotation) == (Iterator[bytes], AsyncIterator[bytes])
    else:
        assert usual.return_annotation == awaited.return_annotation
        assert inspect.iscoroutinefunction(method(AsyncTidings, operation))


def test_the_words_of_a_path_become_nouns() -> None:
    words = {"addresses": "address", "deliveries": "delivery", "versions": "version", "override": "override"}

    assert {word: singular(word) for word in words} == words
