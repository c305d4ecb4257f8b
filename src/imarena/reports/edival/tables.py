"""EdiVal's tables in the form of the paper. Shares are in percent."""

from collections import Counter
from collections.abc import Callable, Sequence

from imarena.reports.edival.figures import (
    COMPLEX,
    MULTI,
    OverallRule,
    ToolSwap,
    TurnFigures,
    all_figures,
    geometric_mean,
    pareto_front,
    pooled_overall,
    type_rates,
)
from imarena.reports.edival.scored import ScoredOutput, ScoredSet, known_mean, percent
from imarena.reports.tables import CellValue, Column, Table

FIRST_TYPES = ("subject_replace", "subject_remove", "material_alter", "color_alter", "subject_add")
OTHER_TYPES = ("text_change", "position_change", "count_change", "background_change")
MODE_TITLES = {MULTI: "multi-turn", COMPLEX: "complex", "single": "single turn"}
Take = Callable[[TurnFigures], float | None]


def _label(mode: str, turn: int) -> str:
    return f"C{turn + 1}" if mode == COMPLEX else f"T{turn + 1}"


def _by_turn(scored: ScoredSet, mode: str) -> dict[str, dict[int, TurnFigures]]:
    by_editor: dict[str, dict[int, TurnFigures]] = {}
    for figures in all_figures(scored, mode):
        by_editor.setdefault(figures.editor, {})[figures.turn] = figures
    return by_editor


def _wide(
    scored: ScoredSet, mode: str, title: str, groups: Sequence[tuple[str, Take, str]], notes: Sequence[str] = ()
) -> Table:
    """One row per editor, with one column per figure and turn."""
    turns = scored.turns
    columns = [Column("editor")]
    columns += [Column(f"{name} {_label(mode, turn)}", spec) for name, _, spec in groups for turn in turns]
    rows = [
        (editor, *(take(figures[turn]) if turn in figures else None for _, take, _ in groups for turn in turns))
        for editor, figures in _by_turn(scored, mode).items()
    ]
    return Table(tuple(columns), tuple(rows), title, tuple(notes)).filled


def edit_type_table(scored: ScoredSet) -> Table:
    """Table 2: number of edits of each type at each turn."""
    counts: Counter[tuple[str, int]] = Counter()
    counted: set[tuple[str, int]] = set()
    for output in scored.outputs:
        for turn, edit in enumerate(output.edits[: output.turn + 1]):
            at = turn if len(output.edits) == output.turn + 1 else output.turn
            if (output.item, at) not in counted:
                counted.add((output.item, at))
                counts[edit.type, at] += 1
    turns = scored.turns
    columns = (Column("type"), *(Column(f"T{turn + 1}", ",") for turn in turns), Column("total", ","))
    rows: list[tuple[CellValue, ...]] = [
        (name, *(counts[name, turn] for turn in turns), sum(counts[name, turn] for turn in turns))
        for name in sorted({name for name, _ in counts})
    ]
    return Table(columns, tuple(rows), "Edits by type and turn")


def score_table(scored: ScoredSet, mode: str, rule: OverallRule = "per-turn") -> Table:
    """Table 3: instruction following (multi-turn success), consistency and overall by turn, with the rank."""
    table = _wide(
        scored, mode, f"EdiVal scores ({MODE_TITLES[mode]}), percent",
        (
            ("n", lambda f: f.images, ","),
            ("IF", lambda f: percent(f.image_success), ".2f"),
            ("CC", lambda f: percent(f.consistency), ".2f"),
            ("O", lambda f: percent(f.overall), ".2f"),
        ),
        (
            "n: images with outputs through the turn. IF: images with every edit up to the turn right, of those whose "
            "edits could all be decided. O: sqrt(IF x CC).",
        ),
    )  # fmt: skip
    last = max(scored.turns, default=0)
    by_turn = _by_turn(scored, mode)

    def key(editor: str) -> float:
        if rule == "paper-o4":
            return pooled_overall(scored, editor, mode) or 0.0
        return (by_turn[editor][last].overall or 0.0) if last in by_turn[editor] else -1.0

    order = sorted(by_turn, key=lambda editor: -key(editor))
    ranks = {editor: at + 1 for at, editor in enumerate(order)}
    pooled = rule == "paper-o4"
    extra = (Column("s per image", ".2f", drop=2), *((Column("O (O.4)", ".2f"),) if pooled else ()), Column("rank"))
    rows = []
    for row in sorted(table.rows, key=lambda row: ranks[str(row[0])]):
        more: tuple[CellValue, ...] = (percent(pooled_overall(scored, str(row[0]), mode)),) if pooled else ()
        took = [o.latency_s for o in scored.outputs if (o.editor, o.mode) == (row[0], mode)]
        rows.append((*row, known_mean(took), *more, ranks[str(row[0])]))
    return Table((*table.columns, *extra), tuple(rows), table.title, table.notes).filled


def quality_table(scored: ScoredSet, mode: str) -> Table:
    """Tables 4, 26 and 27: quality, its change from the base images, and luminance."""

    def light(name: str) -> Callable[[str, int], float | None]:
        def take(editor: str, turn: int) -> float | None:
            return known_mean([o.quality.get(name) for o in scored.of(editor, mode, turn)])

        return take

    figures = _by_turn(scored, mode)
    turns = scored.turns
    names = ("luminance_mean", "luminance_p99", "luminance_p999")
    columns = [Column("editor")]
    columns += [Column(f"VQ {_label(mode, turn)}", ".3f") for turn in turns]
    columns += [Column(f"|dVQ| {_label(mode, turn)}", ".3f") for turn in turns]
    short = {"luminance_mean": "lum", "luminance_p99": "lum p99", "luminance_p999": "lum p99.9"}
    columns += [Column(f"{short[name]} {_label(mode, turn)}", ".1f") for name in names for turn in turns]
    rows: list[tuple[CellValue, ...]] = []
    for editor, by_turn in figures.items():
        vq = [by_turn[turn].quality if turn in by_turn else None for turn in turns]
        shift = [by_turn[turn].quality_shift if turn in by_turn else None for turn in turns]
        lights = [light(name)(editor, turn) for name in names for turn in turns]
        rows.append((editor, *vq, *shift, *lights))
    base = [light(f"base_{name}") for name in names]
    if figures:
        first = next(iter(figures))
        bases = [take(first, turn) for take in base for turn in turns]
        base_vq = [figures[first][turn].base_quality if turn in figures[first] else None for turn in turns]
        rows.append(("base images", *base_vq, *(None for _ in turns), *bases))
    return Table(tuple(columns), tuple(rows), f"Visual quality and luminance ({MODE_TITLES[mode]})").filled


def other_quality_table(scored: ScoredSet, mode: str) -> Table:
    """Additional quality measures: a model asked zero-shot (appendix N), plausibility, aesthetics."""
    measures = {name for output in scored.outputs for name in output.quality}
    names = sorted(
        name for name in measures if name in ("plausibility", "aesthetics") or name.endswith("_quality")
        if not name.startswith("base_")
    )  # fmt: skip
    turns = scored.turns
    columns = [Column("editor")]
    columns += [Column(f"{name.replace('_', ' ')} {_label(mode, turn)}", ".3f") for name in names for turn in turns]
    rows: list[tuple[CellValue, ...]] = []
    for editor in scored.editors(mode) if names else ():
        by_turn = {turn: scored.of(editor, mode, turn) for turn in turns}
        cells = (known_mean([o.quality.get(name) for o in by_turn[turn]]) for name in names for turn in turns)
        rows.append((editor, *cells))
    bases = [
        known_mean([o.quality.get(f"base_{name}") for o in scored.outputs if (o.mode, o.turn) == (mode, turn)])
        for name in names
        for turn in turns
    ]
    return Table(
        tuple(columns), (*rows, ("base images", *bases)) if rows else (),
        f"Other measures of quality ({MODE_TITLES[mode]})",
    ).filled  # fmt: skip


def success_table(scored: ScoredSet, mode: str) -> Table:
    """Tables 16 and 19: image success, all tasks so far, and the turn's own edit (figures 5 and 25)."""
    return _wide(
        scored, mode, f"Success rates ({MODE_TITLES[mode]}), percent",
        (
            ("image", lambda f: percent(f.image_success), ".2f"),
            ("all tasks", lambda f: percent(f.all_tasks), ".2f"),
            ("this turn", lambda f: percent(f.task_success), ".2f"),
        ),
        ("this turn: the edit of the turn by itself; in complex mode the last instruction of the prompt.",),
    )  # fmt: skip


def type_table(scored: ScoredSet, mode: str, types: Sequence[str]) -> Table:
    """Tables 17, 18, 20 and 21: success by type and turn."""
    turns = scored.turns
    columns = [Column("editor")] + [Column(f"{name} {_label(mode, turn)}", ".2f") for name in types for turn in turns]
    rows = []
    for editor in scored.editors(mode):
        rates = {turn: type_rates(scored.of(editor, mode, turn), mode) for turn in turns}
        rows.append((editor, *(percent(rates[turn].get(name, (None, 0))[0]) for name in types for turn in turns)))
    return Table(tuple(columns), tuple(rows), f"Success by type ({MODE_TITLES[mode]}), percent").filled


def consistency_table(scored: ScoredSet, mode: str, shape: str = "") -> Table:
    """Tables 10, 11 and 22 to 25: objects and background by features and by 1 - L1."""
    square = {"": None, "square": True, "padded": False}[shape]
    names = {
        "objects": "objects", "background": "background", "objects_l1": "objects 1-L1",
        "background_l1": "background 1-L1",
    }  # fmt: skip
    turns = scored.turns
    columns = [Column("editor")]
    columns += [Column(f"{title} {_label(mode, turn)}", ".2f") for title in names.values() for turn in turns]
    rows = []
    ranks = _consistency_ranks(scored, mode, square)
    for editor in scored.editors(mode):
        cells: list[CellValue] = []
        for name in names:
            for turn in turns:
                outputs = [o for o in scored.of(editor, mode, turn) if square in (None, o.square)]
                cells.append(percent(known_mean([o.consistency.get(name) for o in outputs])))
        rows.append((editor, *cells, ranks.get(editor)))
    of = {"": "", "square": ", square images", "padded": ", images that are not square"}[shape]
    columns.append(Column("CC rank"))
    return Table(tuple(columns), tuple(rows), f"Consistency ({MODE_TITLES[mode]}{of}), percent").filled


def _consistency_ranks(scored: ScoredSet, mode: str, square: bool | None) -> dict[str, int]:
    """Tables 10 and 11: ranks by CC at the last turn."""
    last = max(scored.turns, default=0)
    means = {
        editor: known_mean([o.consistency.get("consistency") for o in outputs])
        for editor in scored.editors(mode)
        if (outputs := [o for o in scored.of(editor, mode, last) if square in (None, o.square)])
    }
    order = sorted(
        (editor for editor in means if means[editor] is not None), key=lambda editor: -(means[editor] or 0.0)
    )
    return {editor: rank for rank, editor in enumerate(order, 1)}


def modes_table(scored: ScoredSet) -> Table:
    """Table 15: the last turn of step-by-step editing against all instructions in one prompt."""
    last = max(scored.turns, default=0)
    step, once = _by_turn(scored, MULTI), _by_turn(scored, COMPLEX)
    rows = []
    for editor in sorted(step.keys() & once.keys()):
        left = step[editor][last].image_success if last in step[editor] else None
        right = once[editor][last].image_success if last in once[editor] else None
        better = "" if left is None or right is None or left == right else ("multi-turn" if left > right else "complex")
        rows.append((editor, percent(left), percent(right), better))
    columns = (Column("editor"), Column(f"T{last + 1}", ".2f"), Column(f"C{last + 1}", ".2f"), Column("higher"))
    return Table(columns, tuple(rows), "Multi-turn against complex: image success, percent")


def connector_table(scored: ScoredSet) -> Table:
    """Tables 5 and 12: complex prompts by how the instructions are joined."""
    last = max(scored.turns, default=0)
    groups: dict[tuple[str, str], list[ScoredOutput]] = {}
    for output in scored.outputs:
        if output.mode == COMPLEX and output.turn == last:
            groups.setdefault((output.editor, output.connector or "default"), []).append(output)
    rows = [
        (*key, len(outputs), percent(known_mean([o.success for o in outputs])))
        for key, outputs in sorted(groups.items())
    ]
    columns = (Column("editor"), Column("connector"), Column("n", ","), Column(f"C{last + 1}", ".2f"))
    return Table(columns, tuple(rows), "Complex prompts by connector: image success, percent")


def passing_table(scored: ScoredSet, mode: str) -> Table:
    """Figure 1: the share of images with a CC of at least 90 and a VQ of at least 6."""
    return _wide(
        scored, mode, f"Images with CC of 90 and VQ of 6 at least ({MODE_TITLES[mode]}), percent",
        (("passes", lambda f: percent(f.passes), ".2f"),),
        ("VQ 6 is a line on HPSv3's scale; another measure of quality has another scale.",),
    )  # fmt: skip


def pareto_table(scored: ScoredSet, mode: str) -> Table:
    """Figures 10, 14 and 15: the editors that no other one beats, for each pair of axes and turn."""
    axes: dict[str, Take] = {
        "IF": lambda f: f.image_success, "CC": lambda f: f.consistency, "VQ": lambda f: f.quality,
    }  # fmt: skip
    rows = []
    for turn in scored.turns:
        of_turn = [by_turn[turn] for by_turn in _by_turn(scored, mode).values() if turn in by_turn]
        for first, second in (("IF", "CC"), ("IF", "VQ"), ("CC", "VQ")):
            points = {
                f.editor: (x, y)
                for f in of_turn
                if (x := axes[first](f)) is not None and (y := axes[second](f)) is not None
            }
            rows.append((_label(mode, turn), f"{first} and {second}", ", ".join(pareto_front(points))))
    columns = (Column("turn"), Column("axes"), Column("on the front", wrap=True))
    return Table(columns, tuple(rows), f"Pareto fronts ({MODE_TITLES[mode]})")


def replace_table(scored: ScoredSet, mode: str) -> Table:
    """The paper's three rules for replacements side by side."""
    rules = ("algorithm-3", "pre-check", "old-gone")
    rows = []
    for editor in scored.editors(mode):
        edits = [
            edit.replace_rules
            for o in scored.outputs
            if (o.editor, o.mode) == (editor, mode)
            for edit in (o.edits if mode == COMPLEX else o.edits[-1:])
            if edit.replace_rules
        ]
        if edits:
            rows.append(
                (editor, len(edits), *(percent(known_mean([rules_.get(name) for rules_ in edits])) for name in rules))
            )
    columns = (Column("editor"), Column("edits", ","), *(Column(name, ".2f", "undecided") for name in rules))
    return Table(columns, tuple(rows), f"Replacements by each rule ({MODE_TITLES[mode]}), percent")


def count_table(scored: ScoredSet, mode: str) -> Table:
    """The counts behind the figures: outputs, missing ones, edits that the tools could not decide, other sizes."""
    rows = []
    for editor in scored.editors(mode):
        for turn in scored.turns:
            outputs = scored.of(editor, mode, turn)
            undecided = Counter(o.edits[-1].reason for o in outputs if o.edits and o.marginal is None)
            no_objects = sum("consistency" in o.consistency and "objects" not in o.consistency for o in outputs)
            why = ", ".join(f"{name} {number}" for name, number in undecided.most_common(3))
            rows.append(
                (
                    editor, _label(mode, turn), len(outputs), scored.missing.get((editor, mode, turn), 0),
                    sum(undecided.values()), why, no_objects, sum(o.resized for o in outputs),
                )
            )  # fmt: skip
    columns = (
        Column("editor"), Column("turn"), Column("outputs", ","), Column("missing", ","), Column("undecided", ","),
        Column("why", wrap=True, drop=1), Column("no unchanged object", ","), Column("other size", ","),
    )  # fmt: skip
    return Table(columns, tuple(rows), f"What was counted ({MODE_TITLES[mode]})")


def swap_table(swaps: Sequence[ToolSwap]) -> Table:
    """Tables 6 and 7: correlations over (editor, turn)."""
    rows = [
        (swap.figure, swap.default, swap.variant, swap.n, swap.pearson.value, swap.spearman.value) for swap in swaps
    ]
    columns = (
        Column("figure"), Column("default"), Column("variant"), Column("n", ","), Column("Pearson", ".4f", "undefined"),
        Column("Spearman", ".4f", "undefined"),
    )  # fmt: skip
    return Table(columns, tuple(rows), "Tool swap: correlations over (editor, turn)")


def settings_table(sets: Sequence[ScoredSet], mode: str) -> Table:
    """Tables 8, 10 and 11: each set of tools, with its figures by turn and the rank at the last turn."""
    turns = sorted({turn for scored in sets for turn in scored.turns})
    takes: tuple[tuple[str, Take], ...] = (
        ("image", lambda f: f.image_success), ("task", lambda f: f.task_success), ("CC", lambda f: f.consistency),
        ("O", lambda f: geometric_mean(f.image_success, f.consistency)),
    )  # fmt: skip
    columns = [Column("tools"), Column("editor")]
    columns += [Column(f"{name} {_label(mode, turn)}", ".2f") for name, _ in takes for turn in turns] + [Column("rank")]
    rows: list[tuple[CellValue, ...]] = []
    for scored in sets:
        figures = _by_turn(scored, mode)
        order = sorted(figures, key=lambda editor: -(figures[editor][max(figures[editor])].overall or 0.0))
        for rank, editor in enumerate(order, 1):
            cells = [
                percent(take(figures[editor][turn])) if turn in figures[editor] else None
                for _, take in takes
                for turn in turns
            ]
            rows.append((scored.name, editor, *cells, rank))
    return Table(tuple(columns), tuple(rows), f"Figures by set of tools ({MODE_TITLES[mode]}), percent").filled


def tool_table(scored: ScoredSet) -> Table:
    """The tools that made every figure."""
    rows = tuple((role, *_parts(tool)) for role, tool in scored.tools.items())
    return Table((Column("role"), Column("tool"), Column("version")), rows, "Tools")


def _parts(tool: str) -> tuple[str, str]:
    name, _, version = tool.partition("@")
    return name, version


def report_tables(scored: ScoredSet, rule: OverallRule = "per-turn") -> list[Table]:
    """All tables for which there are data, the most useful ones first."""
    tables: list[Table] = []
    for mode in (MULTI, "single", COMPLEX):
        if not scored.editors(mode):
            continue
        tables += [
            score_table(scored, mode, rule), success_table(scored, mode), type_table(scored, mode, FIRST_TYPES),
            type_table(scored, mode, OTHER_TYPES), consistency_table(scored, mode),
            *(consistency_table(scored, mode, shape) for shape in ("square", "padded") if _both_shapes(scored)),
            quality_table(scored, mode), other_quality_table(scored, mode), passing_table(scored, mode),
            pareto_table(scored, mode),
            replace_table(scored, mode), count_table(scored, mode),
        ]  # fmt: skip
    if scored.editors(MULTI) and scored.editors(COMPLEX):
        tables.append(modes_table(scored))
    if any(output.connector for output in scored.outputs):
        tables.append(connector_table(scored))
    return [table for table in (*tables, edit_type_table(scored), tool_table(scored)) if table.rows]


def _both_shapes(scored: ScoredSet) -> bool:
    return len({output.square for output in scored.outputs}) == 2
