"""All data set formats by name: reader, writer and a one-line description."""

from imarena.core import ReadFormat, Registry, WriteFormat

_ROOM = "imarena.datasets"

DESCRIPTIONS: dict[str, str] = {
    "native": "imarena folder: manifest, one JSON Lines file per kind of record, images named by their hash",
    "native_jsonl": "imarena JSON Lines: one record per line; images embedded or in files next to it",
    "native_parquet": "imarena Parquet: one file per kind of record; images embedded or in files next to it",
    "table": "your own: items in CSV, JSON Lines or Parquet, outputs/<editor>/<key>.png; or folders of images",
    "genarena": "GenArena: benchmark Parquet, model outputs, battle and audit logs",
    "gedit_bench": "GEdit-Bench: Parquet, result tree and score CSV",
    "geditbench_v2": "GEditBench v2: Parquet, gallery and pair results",
    "vcreward": "VCReward-Bench: Parquet of pairs with the winner",
    "imgedit": "ImgEdit-Bench: basic_edit.json, outputs and result.json",
    "mmrb2": "Multimodal RewardBench 2: JSON pairs and predictions",
    "editscore_bench": "EditReward-Bench by EditScore: pairs, the first output won",
    "editreward_bench": "EditReward-Bench by TIGER-Lab: rankings of 2 to 4 outputs; also its training JSON",
    "genai_bench": "GenAI-Bench: pairs, human votes and judges' votes",
    "imagenhub": "ImagenHub: output tree with dataset_lookup.json, and rating TSVs",
    "imagenworld": "ImagenWorld: item folders with outputs, Gemini scores, human ratings and masks",
    "viescore": "VIEScore: recorded judge scores and automatic metrics for ImagenHub's items",
}

_READS = {
    "native": "native.folder",
    "native_jsonl": "native.jsonl",
    "native_parquet": "native.parquet",
    "table": "table.importer",
    "genarena": "genarena.importer",
    "geditbench_v2": "geditbench_v2.importer",
    "imagenworld": "imagenworld.importer",
}
"""Where a format is read, if not in the module of its own name."""

_WRITES = {
    "native": "native.folder",
    "native_jsonl": "native.jsonl",
    "native_parquet": "native.parquet",
    "table": "table.exporter",
    "genarena": "genarena.exporter",
}

READERS: Registry[ReadFormat] = Registry(
    "reader", {name: f"{_ROOM}.{_READS.get(name, name)}:read" for name in DESCRIPTIONS}
)
WRITERS: Registry[WriteFormat] = Registry(
    "writer", {name: f"{_ROOM}.{module}:write" for name, module in _WRITES.items()}
)
