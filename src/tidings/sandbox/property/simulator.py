"""The simulator with a server of its own: for tests, and beside a Tidings that runs apart."""

from typing import Self

from tidings.kernel.clock import Clock
from tidings.kernel.http.bodies import decode
from tidings.kernel.http.errors import NoRouteError
from tidings.sandbox.faults import Faults, FaultSpec
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.http_server import HttpSandbox
from tidings.sandbox.property.site import SEED, PropertySite


class PropertySimulator:
    """`async with PropertySimulator(clock) as simulator:` listens on a free port until the end of the block."""

    def __init__(self, clock: Clock, *, host: str = "127.0.0.1", port: int = 0, seed: int = SEED) -> None:
        self.faults = Faults(clock, seed=seed)
        self.site = PropertySite(clock, self.faults, seed=seed)
        self._host = host
        self._port = port
        self._http = HttpSandbox(self._answer)

    @property
    def url(self) -> str:
        """The base address of all services, as `TIDINGS_UPSTREAM_URL` takes it."""
        return f"http://{self._host}:{self._port}/property"

    async def start(self) -> None:
        """Listen; after a stop at the same port."""
        self._port = await self._http.start(self._host, self._port)

    async def stop(self) -> None:
        """Listen no more, as a service that is down."""
        await self._http.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _answer(self, request: SandboxRequest) -> SandboxResponse:
        first, *steps = request.path.strip("/").split("/")
        match (first, request.method):
            case ("property", _):
                return self.site.handle(request, steps)
            case ("faults", "POST"):
                self.faults.set(decode(request.body, FaultSpec))
                return json_answer({"faults": self.faults.standing()}, status=201)
            case ("faults", "DELETE"):
                self.faults.clear()
                return json_answer({"faults": []})
        raise NoRouteError
