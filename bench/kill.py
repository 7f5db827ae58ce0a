"""What is lost, and what is sent twice, when a worker is killed at full load?

`python -m bench.kill` queues mails of ten tenants, each with a mail account of its own, kills the only worker with `kill -9` in the
midst of them, starts it again, and does so again and again. The mail server answers at once: what it had taken and the worker had
not recorded would be sent again, but for the journal of answers. Still sent twice is what was in flight, of which the
answer was never read.
"""

import argparse
import os
import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import asyncpg

from bench.fairness import Beside, flood, open_sink
from bench.house import House, wait_for
from bench.sink import Sink

#: How often the worker is killed, and how many mails wait at each kill at the least.
KILLS = 10
MAILS = 2_000
#: Tenants, each with an account of its own at the same server.
ACCOUNTS = 10
#: Seconds that mails need at most until the last is at the vendor.
_PATIENCE = 240.0


def measure(
    kills: int = KILLS,
    mails: int = MAILS,
    open_house: Callable[..., AbstractContextManager[House]] = House,
    seed: int = 7,
    accounts: int = ACCOUNTS,
) -> dict[str, float]:
    """Mails that never came, and that came twice, after so many kills. Call it in the main thread."""
    mails -= mails % accounts
    luck = random.Random(seed)
    twice: list[int] = []
    with Beside() as beside:
        sink = beside.run(open_sink())
        account: dict[str, object] = {"host": "127.0.0.1", "port": sink.port, "security": "none"}
        extra = {"TIDINGS_TENANT_NETWORKS": "127.0.0.0/8"}
        with open_house(workers=1, vendors={"smtp": account}, extra=extra) as house:
            residents = house.residents([f"killed-{n}" for n in range(accounts)], own_accounts=True)
            for number in range(kills):
                before = _repeats(sink)
                for resident in residents:
                    beside.run(flood(house, resident, mails // accounts))
                _kill(house, sink, at=number * mails + mails * luck.uniform(0.2, 0.8))
                _await(partial(_have_come, sink, (number + 1) * mails), "all to arrive")
                # Nothing can be sent again from then on.
                _await(partial(_all_recorded, beside, house), "all to be recorded")
                twice.append(_repeats(sink) - before)
            beside.run(sink.__aexit__(None, None, None))
    return {
        "kills_of_a_worker": float(kills),
        "kills_accounts": float(accounts),
        "kills_lost": float(kills * mails - len(sink.came)),
        "kills_sent_twice_mean": sum(twice) / kills,
        "kills_sent_twice_most": float(max(twice)),
        # One figure for each kill.
        **{f"kills_sent_twice_{number + 1:02d}": float(count) for number, count in enumerate(twice)},
    }


def _kill(house: House, sink: Sink, *, at: float) -> None:
    _await(lambda: _have_come(sink, int(at)), "mails to arrive")
    worker = house.workers[0]
    worker.kill()
    worker.launch()
    worker.await_ready()


def _repeats(sink: Sink) -> int:
    return sink.count - len(sink.came)


def _have_come(sink: Sink, count: int) -> bool:
    return len(sink.came) >= count


def _all_recorded(beside: Beside, house: House) -> bool:
    return beside.run(_under_way(house.postgres.url("tidings_owner"))) == 0


async def _under_way(owner_url: str) -> int:
    connection = await asyncpg.connect(owner_url)
    try:
        await connection.execute("SET ROLE tidings_breakglass")
        count: int = await connection.fetchval(
            "SELECT (SELECT count(*) FROM notification.dispatch_queue) + (SELECT count(*) FROM chan.executions_live)"
        )
        return count
    finally:
        await connection.close()


def _await(condition: Callable[[], bool], what: str) -> None:
    wait_for(condition, what, _PATIENCE)


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(description="Kill the worker at full load, again and again.")
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--mails", type=int, default=MAILS, help="that wait before each kill")
    parser.add_argument("--accounts", type=int, default=ACCOUNTS, help="tenants with an account of their own")
    asked = parser.parse_args()
    began = time.perf_counter()
    print(f"{'load of the machine before, per core':36} {os.getloadavg()[0] / (os.cpu_count() or 1):>12.2f}")
    for name, value in measure(asked.kills, asked.mails, accounts=asked.accounts).items():
        print(f"{name:36} {value:>12,.2f}")
    print(f"{'seconds':36} {time.perf_counter() - began:>12,.2f}")


if __name__ == "__main__":
    main()
