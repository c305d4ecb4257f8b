"""Ranking speed and memory beside evalica, choix and arena-rank, on the same table, in CPU seconds.

    python -m benchmarks.ranking.speed [--battles 1000000] [--models 100] [--runs 9]
        [--part fit|bootstrap|online|memory]

Every engine gets the same Arrow table of strings (left, right, winner) and must give ratings. Runs are interleaved, so
that a busy machine hurts all alike, and medians are printed with their ratio to the floor. A peer that is not
installed is named and skipped. Peak memory is measured in a fresh process for each engine.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa

Engine = Callable[[pa.Table], Any]


def make_table(n: int, m: int, seed: int = 0) -> pa.Table:
    """Seeded Bradley-Terry battles, 15% ties, string names."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 1, m)
    left = rng.integers(0, m, n)
    right = (left + rng.integers(1, m, n)) % m
    won = rng.random(n) < 1 / (1 + np.exp(strength[right] - strength[left]))
    outcome = np.where(rng.random(n) < 0.15, 1, np.where(won, 0, 2))
    names = pa.array([f"vendor-{i % 7}/image-editor-{i:03d}" for i in range(m)])
    words = pa.array(["left", "tie", "right"])
    columns = {"left": names.take(pa.array(left)), "right": names.take(pa.array(right))}
    return pa.table({**columns, "winner": words.take(pa.array(outcome))})


def floor(table: pa.Table) -> Any:
    """The least work: dictionary encode, bincount, Newton."""
    codes, names = [], []
    for column in ("left", "right", "winner"):
        encoded = table[column].combine_chunks().dictionary_encode()
        codes.append(encoded.indices.to_numpy().astype(np.int64))
        names.append(encoded.dictionary.to_pylist())
    models = sorted({*names[0], *names[1]})
    m = len(models)
    place = {model: i for i, model in enumerate(models)}
    points = np.array([{"left": 1.0, "tie": 0.5, "right": 0.0}[word] for word in names[2]])
    key = (codes[0] * len(names[1]) + codes[1]) * len(points) + codes[2]
    counts = np.bincount(key, minlength=len(names[0]) * len(names[1]) * len(points))
    scored = np.zeros((m, m))
    cells = counts.reshape(len(names[0]), len(names[1]), len(points))
    rows = np.ix_([place[x] for x in names[0]], [place[x] for x in names[1]])
    scored[rows] += cells @ points
    scored.T[rows] += cells @ (1 - points)
    met, theta = scored + scored.T, np.zeros(m)
    for _ in range(8):
        chance = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
        gradient = (scored - met * chance).sum(axis=1)
        weight = met * chance * (1 - chance)
        theta = theta + np.linalg.solve(np.diag(weight.sum(axis=1)) - weight + 1.0, gradient)
    return theta


def ours(table: pa.Table, **options: Any) -> Any:
    from imarena.ranking.boards.from_tables import rank

    return rank(table, **{"interval": "none", **options})


def evalica_engine(table: pa.Table) -> Any:
    import evalica

    words = {"left": evalica.Winner.X, "tie": evalica.Winner.Draw, "right": evalica.Winner.Y}
    winners = [words[word] for word in table["winner"].to_pylist()]
    return evalica.bradley_terry(table["left"].to_pylist(), table["right"].to_pylist(), winners).scores


def choix_engine(table: pa.Table) -> Any:
    import choix

    left, right, winner = (table[name].combine_chunks().dictionary_encode() for name in ("left", "right", "winner"))
    models = sorted({*left.dictionary.to_pylist(), *right.dictionary.to_pylist()})
    place = {model: i for i, model in enumerate(models)}
    i = np.array([place[x] for x in left.dictionary.to_pylist()])[left.indices.to_numpy()]
    j = np.array([place[x] for x in right.dictionary.to_pylist()])[right.indices.to_numpy()]
    points = np.array([{"left": 1.0, "tie": 0.5, "right": 0.0}[x] for x in winner.dictionary.to_pylist()])
    share = points[winner.indices.to_numpy()]
    m = len(models)
    scored = np.bincount(i * m + j, share, m * m).reshape(m, m)
    scored += np.bincount(j * m + i, 1 - share, m * m).reshape(m, m)
    return choix.ilsr_pairwise_dense(scored)


def arena_rank_engine(table: pa.Table) -> Any:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    words = {"left": "model_a", "tie": "tie", "right": "model_b"}
    frame = table.rename_columns(["model_a", "model_b", "winner"]).to_pandas()
    frame["winner"] = frame["winner"].map(words)
    data = PairDataset.from_pandas(frame)
    return BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data)


def evalica_elo(table: pa.Table) -> Any:
    import evalica

    words = {"left": evalica.Winner.X, "tie": evalica.Winner.Draw, "right": evalica.Winner.Y}
    winners = [words[word] for word in table["winner"].to_pylist()]
    return evalica.elo(table["left"].to_pylist(), table["right"].to_pylist(), winners).scores


FIT: dict[str, tuple[str, Engine]] = {
    "floor (encode, bincount, Newton)": ("numpy", floor),
    "imarena": ("imarena", ours),
    "choix on a NumPy count matrix": ("choix", choix_engine),
    "evalica": ("evalica", evalica_engine),
    "arena-rank (sandwich included)": ("arena_rank", arena_rank_engine),
}
BOOTSTRAP: dict[str, tuple[str, Engine]] = {
    "imarena, 1,000 rounds": ("imarena", lambda table: ours(table, interval="bootstrap")),
    "imarena, sandwich": ("imarena", lambda table: ours(table, interval="sandwich")),
}


def available(engines: dict[str, tuple[str, Engine]]) -> dict[str, Engine]:
    """Engines whose package is there; the others are named."""
    for name, (package, _) in engines.items():
        if find_spec(package) is None:
            print(f"skipped: {name} ({package} is not installed)")
    return {name: engine for name, (package, engine) in engines.items() if find_spec(package)}


def interleaved(engines: dict[str, Engine], table: pa.Table, runs: int) -> dict[str, float]:
    """Median CPU seconds of warm calls."""
    times: dict[str, list[float]] = {name: [] for name in engines}
    for name, engine in engines.items():
        start = time.process_time()
        engine(table)
        print(f"  first call {time.process_time() - start:8.3f} s  {name}")
    for _ in range(runs):
        for name, engine in engines.items():
            start = time.process_time()
            engine(table)
            times[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def show(title: str, medians: dict[str, float]) -> None:
    base = next(iter(medians.values()))
    print(f"\n{title}\n  {'median CPU s':>12}  {'ratio':>7}  engine")
    for name, value in medians.items():
        print(f"  {value:12.4f}  {value / base:7.2f}  {name}")


def online(n: int, m: int, runs: int) -> None:
    """Elo after encoding: the loop alone."""
    from imarena.ranking import Options, encode_battles
    from imarena.ranking.elo import active_elo_ratings, elo_ratings, update_terms
    from imarena.tables.plain import as_table

    rng = np.random.default_rng(1)
    table = make_table(n, m)
    table = table.append_column("source", pa.array(np.where(rng.random(n) < 0.3, "human", "judge")))
    for side in ("left", "right"):
        table = table.append_column(f"score_{side}", pa.array(rng.uniform(0, 1000, n)))
    battles = encode_battles(as_table(table, "battles"))
    del table
    options, start = Options(method="elo"), np.full(len(battles.models), 1000.0)
    medians = interleaved(
        {
            "imarena online Elo": lambda _: elo_ratings(battles, options, start),
            "imarena reliability-weighted Elo": lambda _: active_elo_ratings(
                battles, update_terms(battles, options), start
            ),
        },
        pa.table({}),
        runs,
    )
    show(f"online, {n:,} battles x {m} models, after encoding", medians)


def memory(n: int, m: int) -> None:
    """Peak resident memory of a fresh process, beside the size of the table."""
    print(f"\npeak memory, {n:,} battles x {m} models")
    for name, (package, _) in FIT.items():
        if find_spec(package) is None:
            continue
        command = [
            sys.executable,
            __file__,
            "--part",
            "peak",
            "--engine",
            name,
            "--battles",
            str(n),
            "--models",
            str(m),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"  failed: {name}: {done.stderr.strip().splitlines()[-1:]}")
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        ratio = found["peak"] / found["table"]
        print(f"  {found['peak']:8.0f} MB = {ratio:.2f} x table of {found['table']:.0f} MB  {name}")


def peak(name: str, n: int, m: int) -> None:
    table = make_table(n, m)
    FIT[name][1](table)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"peak": most, "table": table.nbytes / 2**20}))


def cold(n: int, m: int) -> None:
    """The whole command from a Parquet file, in a fresh process."""
    import tempfile
    from pathlib import Path

    from pyarrow import parquet

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.parquet"
        parquet.write_table(make_table(n, m), path)
        for extra in (["--interval", "none"], []):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "imarena", "--json", "rank", "--from", str(path), *extra]
            subprocess.run(command, capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"  cold command {spent:6.2f} CPU s  rank {' '.join(extra) or '(1,000 rounds)'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--battles", type=int, default=1_000_000)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--part", default="fit", choices=["fit", "bootstrap", "online", "memory", "peak", "cold"])
    parser.add_argument("--engine", default="imarena")
    given = parser.parse_args()
    size = f"{given.battles:,} battles x {given.models} models from strings"
    if given.part == "fit":
        show(f"point fit, {size}", interleaved(available(FIT), make_table(given.battles, given.models), given.runs))
    elif given.part == "bootstrap":
        table = make_table(given.battles, given.models)
        show(f"intervals, {size}", interleaved(available(BOOTSTRAP), table, given.runs))
    elif given.part == "online":
        online(given.battles, given.models, given.runs)
    elif given.part == "memory":
        memory(given.battles, given.models)
    elif given.part == "cold":
        cold(given.battles, given.models)
    else:
        peak(given.engine, given.battles, given.models)


if __name__ == "__main__":
    main()
