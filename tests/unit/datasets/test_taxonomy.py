"""The taxonomy files say what the papers say, and a wrong one is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UnknownName, UserError
from imarena.core.records import Item, Turn
from imarena.datasets.taxonomy import Task, Taxonomy, load_taxonomy, parse_taxonomy, taxonomy_names
from imarena.studio import entries

ALL = ["cv_arena", "edival", "genarena", "geditbench_v2", "imagenworld"]


def item(**fields: str) -> Item:
    return Item.model_validate({"dataset": "d", "key": "k", "turns": [Turn(instruction="x")], **fields})


def tasks_of(taxonomy: Taxonomy, family: str) -> list[Task]:
    return [task for task in taxonomy.tasks if task.family == family]


def test_every_taxonomy_loads_and_defines_every_entry() -> None:
    assert list(taxonomy_names()) == sorted(ALL)
    for name in ALL:
        taxonomy = load_taxonomy(name)
        assert taxonomy.name == name
        assert taxonomy.source
        for entry in (*taxonomy.families, *taxonomy.tasks, *taxonomy.topics, *taxonomy.tracks):
            assert entry.definition.endswith("."), entry.name
            assert entry.title, entry.name


def test_cv_arena_has_16_tasks_in_six_families_and_marks_our_names() -> None:
    taxonomy = load_taxonomy("cv_arena")
    assert [family.name for family in taxonomy.families] == [
        "restoration", "photography", "composition", "semantic", "geometry", "typography",
    ]  # fmt: skip
    assert len(taxonomy.tasks) == 16
    assert all(tasks_of(taxonomy, family.name) for family in taxonomy.families)
    assert {task.name for task in taxonomy.tasks if not task.ours} == {
        "exposure_correction", "deblurring", "super_resolution", "outpainting", "object_insertion",
        "pose_transformation", "viewpoint_change", "expression_control", "spatial_rearrangement",
        "watermark_and_graphic_removal",
    }  # fmt: skip
    assert all(task.basis for task in taxonomy.tasks)


def test_geditbench_v2_has_22_tasks_in_four_categories_and_an_open_set_of_100() -> None:
    taxonomy = load_taxonomy("geditbench_v2")
    closed = [family for family in taxonomy.families if not family.open]
    assert {family.name: len(tasks_of(taxonomy, family.name)) for family in closed} == {
        "local": 12, "global": 6, "reference": 3, "hybrid": 1,
    }  # fmt: skip
    assert len(taxonomy.tasks) == 22
    (open_set,) = [family for family in taxonomy.families if family.open]
    assert open_set.count == 100
    assert not tasks_of(taxonomy, open_set.name)
    hybrid, enhancement = taxonomy.task("hybrid"), taxonomy.task("enhancement")
    assert hybrid is not None
    assert hybrid.edits == (3, 5)
    assert enhancement is not None
    assert len(set(enhancement.subtypes)) == 11
    assert all(task.sources == 1 for task in tasks_of(taxonomy, "reference"))
    assert taxonomy.check(item(task="open_set", family="open_set")) is None


def test_edival_counts_add_up_to_the_table() -> None:
    taxonomy = load_taxonomy("edival")
    assert (len(taxonomy.tasks), len(taxonomy.families)) == (9, 6)
    for turn in ("T1", "T2", "T3"):
        assert sum(task.counts[turn] for task in taxonomy.tasks) == 572
    add = taxonomy.task("subject_add")
    assert add is not None
    assert sum(add.counts.values()) == 237


def test_imagenworld_cells_are_the_sums_of_their_subtopics() -> None:
    taxonomy = load_taxonomy("imagenworld")
    assert [task.name for task in taxonomy.tasks] == ["TIG", "SRIG", "MRIG", "TIE", "SRIE", "MRIE"]
    assert [topic.name for topic in taxonomy.topics] == ["A", "P", "I", "T", "CG", "S"]
    for task in taxonomy.tasks:
        for topic in taxonomy.topics:
            total = sum(subtopic.counts.get(task.name, 0) for subtopic in topic.subtopics)
            assert taxonomy.cells[task.name][topic.name] == total
    values = [n for row in taxonomy.cells.values() for n in row.values()]
    assert len(values) == 36
    assert (min(values), max(values), sum(values)) == (100, 112, 3620)


def test_imagenworld_merges_spellings() -> None:
    taxonomy = load_taxonomy("imagenworld")
    for topic, one, other in (
        ("T", "Meme", "memes"),
        ("A", "oil paintings", "Oil Painting"),
        ("S", "QR Code", "QR codes"),
        ("Photorealistic images", "Medical Images", "Medical images"),
    ):
        assert taxonomy.subtopic(topic, one) is taxonomy.subtopic(topic, other) is not None
    assert taxonomy.subtopic("T", "Oil painting") is None


def test_genarena_tracks() -> None:
    taxonomy = load_taxonomy("genarena")
    assert {track.name: track.count for track in taxonomy.tracks} == {
        "basic": 1948, "reasoning": 1627, "multiref": 2511,
    }  # fmt: skip
    assert sum(track.count or 0 for track in taxonomy.tracks) == 6086
    assert all(track.sources for track in taxonomy.tracks)
    assert taxonomy.check(item(track="multi-reference", task="anything")) is None


def test_an_unknown_name_in_an_item_gets_a_suggestion() -> None:
    taxonomy = load_taxonomy("edival")
    assert taxonomy.check(item(task="color_alter")) is None
    assert taxonomy.check(item()) is None
    message = taxonomy.check(item(task="colr_alter"))
    assert message == "item 'k': task 'colr_alter' is not in edival. Did you mean 'color_alter'?"
    turn = Item(dataset="d", key="k", turns=(Turn(instruction="x", task="juggle"),))
    assert "task 'juggle' is not in edival. Known: subject_add" in (taxonomy.check(turn) or "")
    world = load_taxonomy("imagenworld")
    assert "subtopic 'Mems'" in (world.check(item(topic="T", subtopic="Mems")) or "")


def test_the_bundled_benchmark_speaks_the_taxonomies_and_covers_every_task() -> None:
    covered: dict[str, set[str]] = {}
    for entry in entries():
        taxonomy = load_taxonomy(entry.taxonomy)
        given = {"family": entry.family, "topic": entry.topic, "subtopic": entry.subtopic, "track": entry.track}
        turns = [Turn(instruction="x", task=step.task) for step in entry.steps]
        made = {"dataset": "d", "key": entry.key, "turns": turns, "task": entry.task}
        assert (
            taxonomy.check(Item.model_validate(made | {name: value for name, value in given.items() if value})) is None
        )
        covered.setdefault(entry.taxonomy, set()).add(entry.task)
    for name in ("cv_arena", "edival", "imagenworld"):
        assert covered[name] >= {task.name for task in load_taxonomy(name).tasks}


def test_a_users_own_file_needs_no_code(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\nversion: '1'\nsource: me\ntasks: [{name: glue}]\n")
    taxonomy = load_taxonomy(str(path))
    assert taxonomy.check(item(task="glu")) == "item 'k': task 'glu' is not in mine. Did you mean 'glue'?"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "name: x\nversion: '1'\nsource: s\ntasks: [{name: a}, {name: b, aliases: [A]}]",
            "tasks: .*'a' appears twice",
        ),
        ("name: x\nversion: '1'\nsource: s\ntasks: [{name: a, family: f}]", "family 'f', which is not listed"),
        ("name: x\nversion: '1'\nsource: s\ntasks: [{name: a, colour: red}]", "tasks.0.colour"),
        ("name: x\nversion: '1'\nsource: s\ncells: {a: {b: 1}}", "not listed"),
        ("name: [", "not YAML"),
        ("", "x.yaml"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(text: str, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        parse_taxonomy(text.encode(), "x.yaml")


def test_an_unknown_taxonomy_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'edival'"):
        load_taxonomy("edivall")
    with pytest.raises(UserError, match="not there"):
        load_taxonomy("nowhere.yaml")


@given(st.binary(max_size=200))
def test_any_bytes_give_a_taxonomy_or_one_clear_error(data: bytes) -> None:
    with pytest.raises(UserError, match=r"^x\.yaml"):
        parse_taxonomy(data, "x.yaml")
