"""Which user Postgres runs as, and where that user can reach its files.

Postgres refuses to run as root, so there it runs as another user. That user can't look into a home of
mode 0700, where a checkout or a data dir may well be. We never open up a folder that is not ours: programs
or cluster go to a place under /var/lib/tidings instead, and a link in the data dir says where.
"""

import hashlib
import os
import pwd
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

_SHARED_PLACE = Path("/var/lib/tidings")
#: Tried in this order. The first is made by packages of Tidings, the second by Postgres', the third is everywhere.
_USERS = ("tidings", "postgres", "nobody")


@dataclass(frozen=True, slots=True)
class User:
    """The user that owns the cluster."""

    uid: int
    gid: int


def choose_user(cluster: Path) -> User | None:
    """The user to drop to, or None where we are an ordinary user already."""
    if os.geteuid() != 0:
        return None
    if cluster.exists():
        owner = cluster.stat()
        if owner.st_uid != 0:
            return User(owner.st_uid, owner.st_gid)
    for name in _USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return User(entry.pw_uid, entry.pw_gid)
    return User(65534, 65534)


def reachable(path: Path, user: User | None) -> bool:
    """Whether `user` may walk to `path` (through links, as Postgres does)."""
    if user is None:
        return True
    resolved = path.resolve()
    return all(_may_pass(folder.stat(), user) for folder in resolved.parents if folder.exists())


def _may_pass(folder: os.stat_result, user: User) -> bool:
    if folder.st_uid == user.uid:
        return bool(folder.st_mode & stat.S_IXUSR)
    if folder.st_gid == user.gid:
        return bool(folder.st_mode & stat.S_IXGRP)
    return bool(folder.st_mode & stat.S_IXOTH)


def place_cluster(link: Path, user: User | None) -> Path:
    """Where the cluster goes: `link` itself, or a reachable place that `link` then points to."""
    if link.is_symlink():
        place = link.resolve()
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        return place
    if link.exists() or reachable(link, user):
        return link
    name = hashlib.sha256(os.fsencode(link)).hexdigest()[:16]
    place = _SHARED_PLACE / "clusters" / name
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    # A folder that was deleted and made again must not inherit the database of its predecessor.
    if place.exists():
        shutil.rmtree(place)
    link.symlink_to(place)
    return place


def place_programs(install: Path, user: User | None) -> Path:
    """Where the programs can be run from: `install` itself, or a copy that `user` can reach."""
    if reachable(install / "bin" / "postgres", user):
        return install
    mark = f"{install}:{(install / 'bin' / 'postgres').stat().st_mtime_ns}"
    copy = _SHARED_PLACE / "programs" / hashlib.sha256(mark.encode()).hexdigest()[:16]
    if not copy.exists():
        draft = copy.with_name(f"{copy.name}.{os.getpid()}")
        draft.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        package = install.parent
        shutil.copytree(
            install,
            draft / package.name / install.name,
            symlinks=True,
            ignore=shutil.ignore_patterns("include"),
        )
        # A wheel keeps the shared libraries beside the package; the programs look for them by that way.
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, draft / libraries.name, symlinks=True)
        draft.rename(copy)
    return copy / install.parent.name / install.name
