"""Somebody who writes through the API without pause and remembers what was answered."""

import secrets
import threading
from types import TracebackType
from typing import Any, Self

import httpx2

from tests.support.running import RunningTidings, wait_until


class Writer:
    """Creates API keys and tenants in a thread of its own, whatever happens to the server."""

    def __init__(self, tidings: RunningTidings) -> None:
        demo = tidings.demo
        self._base_url = demo["base_url"]
        self._tenant = {"Authorization": f"Bearer {demo['api_key']}"}
        self._platform = {"Authorization": f"Bearer {demo['platform_key']}"}
        self._mark = secrets.token_hex(4)  # No writer uses another one's names.
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        #: Ids of keys that were answered with 201.
        self.keys: list[str] = []
        #: Ids of tenants that were answered with 201.
        self.tenants: list[str] = []
        #: Answers that were no success, and connections that broke.
        self.refusals: list[tuple[int, str]] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join(60)

    def await_more(self, count: int) -> None:
        """Wait until so many more writes were answered with success."""
        goal = len(self.keys) + len(self.tenants) + count
        wait_until(lambda: len(self.keys) + len(self.tenants) >= goal, f"{count} more writes to succeed")

    def _write(self) -> None:
        number = 0
        with httpx2.Client(base_url=self._base_url, timeout=40) as client:
            while not self._over.is_set():
                number += 1
                key = {"name": f"key {number}", "role": "tenant.viewer"}
                tenant = {"name": f"Tenant {number}", "slug": f"w-{self._mark}-{number}"}
                self._post(client, "/api/v1/api-keys", key, self._tenant, self.keys)
                if number % 3 == 0:
                    self._post(client, "/internal/v1/tenants", tenant, self._platform, self.tenants)

    def _post(
        self, client: httpx2.Client, path: str, body: Any, headers: dict[str, str], answered: list[str]
    ) -> None:
        try:
            answer = client.post(path, json=body, headers=headers)
        except httpx2.HTTPError as error:
            self.refusals.append((0, type(error).__name__))
            self._over.wait(0.02)
            return
        if answer.status_code == 201:
            made = answer.json()
            answered.append(made["key"]["id"] if "key" in made else made["id"])
        else:
            self.refusals.append((answer.status_code, answer.json()["code"]))
            self._over.wait(0.02)
