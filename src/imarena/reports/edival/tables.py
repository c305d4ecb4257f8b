"""EdiVal's tables in the form of the paper. Shares are in percent."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from imarena.core import grouped
from imarena.reports.edival.figures import (
    AXIS_PAIRS,
    COMPLEX,
    MULTI,
    OverallRule,
    ToolSwap,
    TurnFigures,
    all_figures,
    axis_points,
    pareto_front,
    pooled_overall,
    type_rate,
)
from imarena.reports.edival.scored import ScoredSet, known_mean, percent
from imarena.reports.tables import CellValue, Column, Table

FIRST_TYPES = ("subject_replace", "subject_remove", "material_alter", "color_alter", "subject_add")
OTHER_TYPES = ("text_change", "position_change", "count_change", "background_change")
MODE_TITLES = {MULTI: "multi-turn", COMPLEX: "complex", "single": "single turn"}
_Take = Callable[[TurnFigures], float | None]
_ByTurn = Mapping[int, TurnFigures]


def _label(mode: str, turn: int) -> str:
    return f"C{turn + 1}" if mode == COMPLEX else f"T{turn + 1}"


def _by_turn(scored: ScoredSet, mode: str) -> dict[str, dict[int, TurnFigures]]:
    by_editor: dict[str, dict[int, TurnFigures]] = {}
    for figures in all_figures(scored, mode):
        by_editor.setdefault(figures.editor, {})[figures.turn] = figures
    return by_editor


def _share(name: str) -> _Take:
    """A figure in percent."""
    return lambda figures: percent(getattr(figures, name))


def _measure(name: str) -> _Take:
    """The mean of a measure of quality."""
    return lambda figures: figures.mean(name)


def _columns(mode: str, turns: Sequence[int], figures: Iterable[tuple[str, str, _Take]]) -> tuple[Column, ...]:
    """One column per figure (its name, format and value) and turn."""
    return tuple(Column(f"{name} {_label(mode, turn)}", spec) for name, spec, _ in figures for turn in turns)


def _cells(by_turn: _ByTurn, turns: Sequence[int], takes: Iterable[_Take]) -> tuple[CellValue, ...]:
    return tuple(take(by_turn[turn]) if turn in by_turn else None for take in takes for turn in turns)


def _wide(
    scored: ScoredSet, mode: str, title: str, figures: Sequence[tuple[str, str, _Take]], notes: Sequence[str] = (),
    *, base: _ByTurn | None = None, base_takes: Sequence[_Take] = (),
) -> Table:  # fmt: skip
    """One row per editor, with one column per figure and turn; with `base`, a last row about the base images."""
    turns, takes = scored.turns, [take for _, _, take in figures]
    rows = [(editor, *_cells(by_turn, turns, takes)) for editor, by_turn in _by_turn(scored, mode).items()]
    if base is not None:
        rows.append(("base images", *_cells(base, turns, base_takes)))
    columns = (Column("editor"), *_columns(mode, turns, figures))
    return Table(columns, tuple(rows), title.format(mode=MODE_TITLES[mode]), tuple(notes)).filled


def _with_columns(table: Table, columns: Sequence[Column], cells: Callable[[str], Sequence[CellValue]]) -> Table:
    """The table with more columns, whose cells depend on the editor."""
    rows = tuple((*row, *cells(str(row[0]))) for row in table.rows)
    return replace(table, columns=(*table.columns, *columns), rows=rows).filled


def _ranks(values: Mapping[str, float | None]) -> dict[str, int]:
    """Places by value, the highest first. Equal values share a place; a name without a value has none."""
    known = {name: value for name, value in values.items() if value is not None}
    return {name: 1 + sum(other > value for other in known.values()) for name, value in known.items()}


def _by_rank(names: Iterable[str], ranks: Mapping[str, int]) -> list[str]:
    """The names in the order of their places; those without one come last."""
    return sorted(names, key=lambda name: (ranks.get(name, len(ranks) + 1), name))


def _last_overall(figures: Mapping[str, _ByTurn], turns: Sequence[int]) -> dict[str, float | None]:
    """O of each editor at the last turn of the set."""
    last = max(turns, default=0)
    return {editor: by_turn[last].overall if last in by_turn else None for editor, by_turn in figures.items()}


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
        scored, mode, "EdiVal scores ({mode}), percent",
        (
            ("n", ",", lambda figures: figures.images), ("IF", ".2f", _share("image_success")),
            ("CC", ".2f", _share("consistency")), ("O", ".2f", _share("overall")),
        ),
        (
            "n: images with outputs through the turn. IF: images with every edit up to the turn right, of those whose "
            "edits could all be decided. O: sqrt(IF x CC). Rank: by O at the last turn; without O there, none.",
        ),
    )  # fmt: skip
    is_pooled, by_turn = rule == "paper-o4", _by_turn(scored, mode)
    pooled = {editor: pooled_overall(scored, editor, mode) if is_pooled else None for editor in by_turn}
    ranks = _ranks(pooled if is_pooled else _last_overall(by_turn, scored.turns))

    def more(editor: str) -> tuple[CellValue, ...]:
        took = known_mean([o.latency_s for o in scored.outputs if (o.editor, o.mode) == (editor, mode)])
        return took, percent(pooled[editor]), ranks.get(editor)

    rows = {str(row[0]): row for row in table.rows}
    table = replace(table, rows=tuple(rows[editor] for editor in _by_rank(rows, ranks)))
    return _with_columns(table, (Column("s per image", ".2f", drop=2), Column("O (O.4)", ".2f"), Column("rank")), more)


def quality_table(scored: ScoredSet, mode: str) -> Table:
    """Tables 4, 26 and 27: quality, its change from the base images, and luminance."""
    lights = {"luminance_mean": "lum", "luminance_p99": "lum p99", "luminance_p999": "lum p99.9"}
    figures = [
        ("VQ", ".3f", _measure("quality")), ("|dVQ|", ".3f", lambda figures: figures.quality_shift),
        *((title, ".1f", _measure(name)) for name, title in lights.items()),
    ]  # fmt: skip
    base: list[_Take] = [_measure("base_quality"), lambda _: None, *(_measure(f"base_{name}") for name in lights)]
    first = next(iter(_by_turn(scored, mode).values()), None)
    return _wide(scored, mode, "Visual quality and luminance ({mode})", figures, base=first, base_takes=base)


def other_quality_table(scored: ScoredSet, mode: str) -> Table:
    """Additional quality measures: a model asked zero-shot (appendix N), plausibility, aesthetics."""
    measures = {name for output in scored.outputs for name in output.quality}
    names = sorted(
        name for name in measures if name in ("plausibility", "aesthetics") or name.endswith("_quality")
        if not name.startswith("base_")
    )  # fmt: skip
    if not names:
        return Table((), ())
    figures = [(name.replace("_", " "), ".3f", _measure(name)) for name in names]
    outputs = {turn: [o for o in scored.outputs if (o.mode, o.turn) == (mode, turn)] for turn in scored.turns}
    base = {turn: TurnFigures("", mode, turn, tuple(of_turn)) for turn, of_turn in outputs.items()}
    base_takes = [_measure(f"base_{name}") for name in names]
    return _wide(scored, mode, "Other measures of quality ({mode})", figures, base=base, base_takes=base_takes)


def success_table(scored: ScoredSet, mode: str) -> Table:
    """Tables 16 and 19: image success, all tasks so far, and the turn's own edit (figures 5 and 25)."""
    return _wide(
        scored, mode, "Success rates ({mode}), percent",
        (
            ("image", ".2f", _share("image_success")), ("all tasks", ".2f", _share("all_tasks")),
            ("this turn", ".2f", _share("task_success")),
        ),
        ("this turn: the edit of the turn by itself; in complex mode the last instruction of the prompt.",),
    )  # fmt: skip


def type_table(scored: ScoredSet, mode: str, types: Sequence[str]) -> Table:
    """Tables 17, 18, 20 and 21: success by type and turn."""

    def rate(kind: str) -> _Take:
        return lambda figures: percent(type_rate(figures.outputs, kind))

    return _wide(scored, mode, "Success by type ({mode}), percent", [(kind, ".2f", rate(kind)) for kind in types])


def consistency_table(scored: ScoredSet, mode: str, shape: str = "") -> Table:
    """Tables 10, 11 and 22 to 25: objects and background by features and by 1 - L1; ranks by CC at the last turn."""
    square = {"": None, "square": True, "padded": False}[shape]

    def take(name: str) -> _Take:
        def mean(figures: TurnFigures) -> float | None:
            fitting = [output for output in figures.outputs if square in (None, output.square)]
            return percent(known_mean([output.consistency.get(name) for output in fitting]))

        return mean

    names = {
        "objects": "objects", "background": "background", "objects_l1": "objects 1-L1",
        "background_l1": "background 1-L1",
    }  # fmt: skip
    of = {"": "", "square": ", square images", "padded": ", images that are not square"}[shape]
    figures = [(title, ".2f", take(name)) for name, title in names.items()]
    table = _wide(scored, mode, f"Consistency ({{mode}}{of}), percent", figures)
    last = max(scored.turns, default=0)
    means = {
        editor: take("consistency")(by_turn[last])
        for editor, by_turn in _by_turn(scored, mode).items()
        if last in by_turn
    }
    ranks = _ranks(means)
    return _with_columns(table, (Column("CC rank"),), lambda editor: (ranks.get(editor),))


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
    groups = grouped(
        ((output.editor, output.connector or "default"), output.success)
        for output in scored.outputs
        if output.mode == COMPLEX and output.turn == last
    )
    rows = [(*key, len(values), percent(known_mean(values))) for key, values in sorted(groups.items())]
    columns = (Column("editor"), Column("connector"), Column("n", ","), Column(f"C{last + 1}", ".2f"))
    return Table(columns, tuple(rows), "Complex prompts by connector: image success, percent")


def passing_table(scored: ScoredSet, mode: str) -> Table:
    """Figure 1: the share of images with a CC of at least 90 and a VQ of at least 6."""
    return _wide(
        scored, mode, "Images with CC of 90 and VQ of 6 at least ({mode}), percent",
        (("passes", ".2f", _share("passes")),),
        ("VQ 6 is a line on HPSv3's scale; another measure of quality has another scale.",),
    )  # fmt: skip


def pareto_table(scored: ScoredSet, mode: str) -> Table:
    """Figures 10, 14 and 15: the editors that no other one beats, for each pair of axes and turn."""
    figures = all_figures(scored, mode)
    rows = []
    for turn in scored.turns:
        for first, second in AXIS_PAIRS:
            points = axis_points((row for row in figures if row.turn == turn), first, second)
            missing = sorted({row.editor for row in figures if row.turn == turn} - points.keys())
            front = ", ".join(pareto_front(points))
            rows.append((_label(mode, turn), f"{first} and {second}", front, ", ".join(missing) or None))
    columns = (
        Column("turn"), Column("axes"), Column("on the front", wrap=True), Column("without both figures", wrap=True),
    )  # fmt: skip
    return Table(columns, tuple(rows), f"Pareto fronts ({MODE_TITLES[mode]})").filled


def replace_table(scored: ScoredSet, mode: str) -> Table:
    """The paper's three rules for replacements side by side."""
    rules = ("algorithm-3", "pre-check", "old-gone")
    rows = []
    for editor in scored.editors(mode):
        edits = [
            edit.replace_rules
            for o in scored.outputs
            if (o.editor, o.mode) == (editor, mode)
            for edit in o.asked
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
    takes = (
        ("image", ".2f", _share("image_success")), ("task", ".2f", _share("task_success")),
        ("CC", ".2f", _share("consistency")), ("O", ".2f", _share("overall")),
    )  # fmt: skip
    rows: list[tuple[CellValue, ...]] = []
    for scored in sets:
        figures = _by_turn(scored, mode)
        ranks = _ranks(_last_overall(figures, scored.turns))
        rows += [
            (scored.name, editor, *_cells(figures[editor], turns, [take for _, _, take in takes]), ranks.get(editor))
            for editor in _by_rank(figures, ranks)
        ]
    columns = (Column("tools"), Column("editor"), *_columns(mode, turns, takes), Column("rank"))
    return Table(columns, tuple(rows), f"Figures by set of tools ({MODE_TITLES[mode]}), percent").filled


def tool_table(scored: ScoredSet) -> Table:
    """The tools that made every figure."""
    rows = tuple((role, *tool.partition("@")[::2]) for role, tool in scored.tools.items())
    return Table((Column("role"), Column("tool"), Column("version")), rows, "Tools")


def report_tables(scored: ScoredSet, rule: OverallRule = "per-turn") -> list[Table]:
    """All tables for which there are data, the most useful ones first."""
    shapes = ("square", "padded") if len({output.square for output in scored.outputs}) == 2 else ()
    tables: list[Table] = []
    for mode in (MULTI, "single", COMPLEX):
        if not scored.editors(mode):
            continue
        tables += [
            score_table(scored, mode, rule), success_table(scored, mode), type_table(scored, mode, FIRST_TYPES),
            type_table(scored, mode, OTHER_TYPES), consistency_table(scored, mode),
            *(consistency_table(scored, mode, shape) for shape in shapes),
            quality_table(scored, mode), other_quality_table(scored, mode), passing_table(scored, mode),
            pareto_table(scored, mode),
            replace_table(scored, mode), count_table(scored, mode),
        ]  # fmt: skip
    if scored.editors(MULTI) and scored.editors(COMPLEX):
        tables.append(modes_table(scored))
    if any(output.connector for output in scored.outputs):
        tables.append(connector_table(scored))
    return [table for table in (*tables, edit_type_table(scored), tool_table(scored)) if table.rows]
