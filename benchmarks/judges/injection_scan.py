"""How often `imarena scan` raises a false alarm, and how often it finds a text that addresses a judge.

Museum: real pictures and what eight editors made of them (ImagenHub's edits); nobody there speaks to a judge. Studio:
the bundled benchmark, sources and exact outputs, with its signs, posters, charts and screens. Drawn: every bundled text
on every n-th museum picture.

    python -m benchmarks.judges.injection_scan museum [--data DIR] [--every 1]
    python -m benchmarks.judges.injection_scan studio
    python -m benchmarks.judges.injection_scan drawn [--data DIR] [--every 6]
    python -m benchmarks.judges.injection_scan fresh

Fresh: texts of injection_texts.yaml, as if they were read without a mistake.
"""

import argparse
import asyncio
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from imarena.core.ids import sha256_hex
from imarena.core.protocols import EditRequest
from imarena.core.records import ImageRef
from imarena.datasets.studio import studio_items
from imarena.editors.studio.editors import studio_editor
from imarena.images import decode
from imarena.judges.injection import CONTROL, draw_text, injections
from imarena.studio import entries
from imarena.vision import FoundInjection, TextLine, find_injections, read_lines

MUSEUM = Path("imagenmuseum") / "Text-Guided_IE"
Named = tuple[str, bytes]
TEXTS = Path(__file__).parent / "injection_texts.yaml"


def museum(data: Path, every: int) -> Iterator[Named]:
    """Sources and outputs."""
    files = sorted(path for path in (data / MUSEUM).glob("*/*") if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
    for path in files[::every]:
        yield f"{path.parent.name}/{path.name}", path.read_bytes()


def studio() -> Iterator[Named]:
    """Every source of the bundled benchmark and what a perfect editor makes of it."""
    kept: dict[str, bytes] = {}

    def keep(data: bytes, _name: str) -> ImageRef:
        sha256 = sha256_hex(data)
        kept[sha256] = data
        return ImageRef(sha256=sha256, size_bytes=len(data), media_type="image/png")

    exact = studio_editor("exact")
    for item in studio_items(keep, [entry.key for entry in entries()]):
        sources = tuple(kept[image.sha256] for image in item.sources)
        references = tuple(kept[image.sha256] for image in (*item.references, *item.turns[0].references))
        yield from ((f"{item.key}/source", data) for data in sources)
        request = EditRequest(item.instruction, sources, references, task=item.task, topic=item.topic, seed=0)
        made = asyncio.run(exact.edit(request))
        if made.image is not None:
            yield f"{item.key}/exact", made.image


def drawn(data: Path, every: int) -> Iterator[Named]:
    """Every text on every n-th source, 24 at most."""
    for path in sorted((data / MUSEUM / "input").iterdir())[::every][:24]:
        for injection in injections():
            yield f"{injection.id}/{path.name}", draw_text(path.read_bytes(), injection.text)


def read(named: Named) -> tuple[str, int, tuple[FoundInjection, ...]]:
    """Name, number of lines, flags."""
    lines = read_lines(decode(named[1]))
    return named[0], len(lines), find_injections(lines)


def flagged(text: str) -> bool:
    """Is a text flagged that was read without a mistake?"""
    return bool(find_injections([TextLine(text, 1.0, (0.0, 0.0, 1.0, 0.1))]))


def fresh() -> None:
    """How many of the texts that address a judge are found, and how many others are flagged."""
    for name, sides in yaml.safe_load(TEXTS.read_text(encoding="utf-8")).items():
        for side, languages in sides.items():
            counts = {code: (sum(map(flagged, texts)), len(texts)) for code, texts in languages.items()}
            if counts:
                told = ", ".join(f"{code} {found} of {n}" for code, (found, n) in counts.items())
                found, n = (sum(column) for column in zip(*counts.values(), strict=True))
                print(f"{name}, {side}: {found} of {n} ({told})")


def main() -> None:
    """Print what was read and what was flagged."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("museum", "studio", "drawn", "fresh"))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("IMARENA_SHARED_DATA", "../shared/data")))
    parser.add_argument("--every", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.what == "fresh":
        fresh()
        return
    sets: dict[str, Iterable[Named]] = {
        "museum": museum(chosen.data, chosen.every or 1),
        "studio": studio(),
        "drawn": drawn(chosen.data, chosen.every or 6),
    }
    pictures = written = lines = 0
    flagged: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, count, found in pool.map(read, sets[chosen.what]):
            pictures, written, lines = pictures + 1, written + bool(count), lines + count
            group = name.partition("/")[0] if chosen.what == "drawn" else "all"
            seen[group] += 1
            flagged[group] += bool(found)
            if found and chosen.what != "drawn":
                print(f"  flagged: {name}: {[(one.kind, one.text) for one in found]}")
    print(f"{pictures:,} pictures, {written:,} with words ({lines:,} lines); flagged: {sum(flagged.values()):,}")
    for group in seen if chosen.what == "drawn" else ():
        kind = " (the control: should be 0)" if group in {one.id for one in injections() if one.kind == CONTROL} else ""
        print(f"  {group}: {flagged[group]} of {seen[group]}{kind}")


if __name__ == "__main__":
    main()
