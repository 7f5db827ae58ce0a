"""Runs a declared operation: lets the caller in, reads the request, calls the handler, answers.

All input is read before a transaction is opened; the answer is written after it has committed.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tidings.kernel.db import Database
from tidings.kernel.http.answers import Reply, reply_of, send_reply
from tidings.kernel.http.asgi import Receive, Scope, Send
from tidings.kernel.http.bodies import decode_query, read_body, refuse_query
from tidings.kernel.http.callers import AccessGuard, Caller, Need, StillAllowed, takes_test_keys
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import GIVEN_KEY, AfterCommit, OpenTx
from tidings.kernel.http.once import Once, idempotency_key
from tidings.kernel.http.operator_requests import DECLARED, PATH_VALUES
from tidings.kernel.http.paging import Paging
from tidings.kernel.http.requests import Request, body_of
from tidings.kernel.http.resources import Declared
from tidings.kernel.http.routing import names_in
from tidings.kernel.idempotency import Idempotency
from tidings.kernel.ids import TenantId
from tidings.kernel.parts import MissingPartError, Parts
from tidings.kernel.refusals import NotAllowedError

_Read = Callable[[Request], Any]
#: Where the caller of a request stands in its scope.
_CALLER = "tidings.caller"


class Endpoint:
    """An operation with all that it needs."""

    def __init__(self, declared: Declared, parts: Parts, guard: AccessGuard) -> None:
        self._declared = declared
        self._operation = declared.operation
        self._signature = signature = declared.signature
        self._guard = guard
        self._need = _need(declared)
        self._names = names_in(declared.path)
        limit = declared.body_limit
        #: How many bytes a body may have; None: as many as any other.
        self.body_limit: int | None = int(parts.get(limit)) if isinstance(limit, type) else limit
        self._db = parts.get(Database) if _opens(declared) else None
        self._idempotency = parts.get(Idempotency) if _repeats(declared) else None
        self._headers = declared.operation.deprecated.headers() if declared.operation.deprecated else {}
        self._special: list[tuple[str, _Read]] = [
            (name, self._reader_of(kind)) for name, kind in signature.special.items()
        ]
        self._parts: dict[str, object] = {}
        self._late: list[tuple[str, Callable[[], object]]] = []
        for name, kind in signature.parts.items():
            late = parts.late(kind)
            if late is not None:
                self._late.append((name, late))
                continue
            try:
                self._parts[name] = parts.get(kind)
            except MissingPartError as error:
                raise TypeError(
                    f"{declared.method} {declared.path}: {declared.name}({name}=…): {error}"
                ) from error

    async def __call__(self, scope: Scope, receive: Receive, send: Send, values: list[str]) -> None:
        """Answer one request."""
        scope["path_template"] = self._declared.path
        scope[DECLARED] = self._declared
        scope[PATH_VALUES] = path_values = dict(zip(self._names, values, strict=True))
        if self._need is not None:
            scope[_CALLER] = await self._guard.admit(scope, self._need)
        request = Request(scope, receive, path_values)
        reply = await self._reply(request, await self._arguments(request))
        await send_reply(reply, receive, send, status=self._operation.status, headers=self._headers)

    async def _arguments(self, request: Request) -> dict[str, Any]:
        signature = self._signature
        query_string = request.scope.get("query_string", b"")
        arguments = dict(self._parts)
        if signature.query is not None:
            query = request.scope["tidings.query"] = decode_query(query_string, signature.query)
            if signature.names_query:
                arguments["query"] = query
        elif query_string and self._need is not None:
            refuse_query(query_string)
        for name, read in signature.path.items():
            arguments[name] = read(request.path_values[name])
        for name, parsed in signature.together.items():
            arguments[name] = parsed(request.path_values)
        for name, special in self._special:
            arguments[name] = special(request)
        for name, late in self._late:
            arguments[name] = late()
        if signature.body is not None:
            if signature.body_optional and not await body_of(request):
                arguments["body"] = signature.body_default
            else:
                arguments["body"] = await read_body(request, signature.body)
        return arguments

    async def _reply(self, request: Request, arguments: dict[str, Any]) -> Reply:
        tx_name = self._signature.tx
        # Before a transaction is open: it takes one of its own.
        refused = await self._unattested(request, arguments.get("body"))

        async def work() -> Any:
            if refused is not None:
                raise refused
            return await self._declared.handler(**arguments)

        if tx_name is None:
            reply = reply_of(await work())
        else:
            async with self._open_tx(request)() as tx:
                arguments[tx_name] = tx
                if self._declared.idempotent:
                    once = self._once(request)
                    reply = await once(tx, work)
                else:
                    reply = reply_of(await work())
        request.committed()
        return reply

    async def _unattested(self, request: Request, body: Any) -> NotAllowedError | None:
        """Why an operator may not do it. A repeated request brings the attestation that the first one has used: it gets the first one's answer all the same."""
        wanted = self._declared.attested_when
        if self._declared.attested is None or (wanted is not None and not wanted(body)):
            return None
        try:
            await self._guard.attest(request.scope, _caller(request), self._declared.attested)
        except NotAllowedError as refused:
            return refused
        return None

    def _reader_of(self, kind: Any) -> _Read:
        if (read := _OF_REQUEST.get(kind)) is not None:
            return read
        of_operation: dict[Any, _Read] = {
            IfMatch: lambda request: IfMatch(request.scope, self._operation.if_match),
            Paging: lambda request: Paging(request.scope["tidings.query"], self._declared.listing),
            Once: self._once,
            StillAllowed: self._still_allowed,
            OpenTx: self._open_tx,
        }
        return of_operation[kind]

    def _open_tx(self, request: Request) -> OpenTx[Any]:
        if self._db is None:
            raise TypeError("only operations that name a transaction open one")
        return OpenTx(self._db, _caller(request))

    def _still_allowed(self, request: Request) -> StillAllowed:
        if self._need is None:
            raise TypeError("an operation that is public has no caller to ask for again")
        return StillAllowed(guard=self._guard, scope=request.scope, need=self._need, caller=_caller(request))

    def _once(self, request: Request) -> Once:
        if self._idempotency is None:
            raise TypeError("only operations that are declared so answer once")
        return Once(request, self._idempotency, _caller(request), status=self._operation.status)


def _caller(request: Request) -> Caller:
    caller: Caller = request.scope[_CALLER]
    return caller


#: What a handler may name that is the same for every operation.
_OF_REQUEST: Final[Mapping[Any, _Read]] = {
    Caller: _caller,
    TenantId: lambda request: _caller(request).tenant_id,
    GIVEN_KEY: lambda request: idempotency_key(request.scope),
    Request: lambda request: request,
    AfterCommit: lambda request: request.after_commit,
}


def _need(declared: Declared) -> Need | None:
    operation = declared.operation
    if operation.scope is None:
        return None
    test_keys = operation.test_keys
    return Need(
        scope=operation.scope,
        tenant=operation.tenant,
        writes=declared.writes,
        operation=f"{declared.method} {declared.path}",
        test_keys=takes_test_keys(operation.scope, declared.method) if test_keys is None else test_keys,
    )


def _opens(declared: Declared) -> bool:
    return declared.signature.tx is not None or OpenTx in declared.signature.special.values()


def _repeats(declared: Declared) -> bool:
    return declared.idempotent or Once in declared.signature.special.values()
