"""`edival report`: EdiVal's judgments in a workspace as figures and tables."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from imarena import reports
from imarena.core import UserError, canonical_json, command_line, object_plan
from imarena.core.records import Item, Judgment, Mode, Output, Status
from imarena.reports.tables import Table, to_csv
from imarena.storage import JudgeVariant, Workspace
from imarena.workflows.reporting.papers.edival_style import majorities, style_tables, yes_of_people
from imarena.workflows.views import ChosenJudge, View, chosen_judges, first_scores, live_judgments

FOLLOWING = "instruction_following"
_DIMENSIONS = (FOLLOWING, "consistency", "quality")


@dataclass(frozen=True)
class EdiValReport:
    """The tables of a report, and the scores they were made from."""

    scored: reports.ScoredSet
    tables: tuple[Table, ...]
    settings: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """For ``--json``: each table by its title, rows as they are."""
        tables = [{**table.to_json(), "notes": list(table.notes)} for table in self.tables]
        return {
            "tools": dict(self.scored.tools), "outputs": len(self.scored.outputs),
            "unscored": dict(self.scored.unscored), "settings": self.settings, "tables": tables,
        }  # fmt: skip


def edival_report(
    workspace: Workspace,
    judges: Sequence[str] | None = None,
    *,
    rule: reports.OverallRule = "per-turn",
    complete: bool = False,
    baselines: Sequence[str] = (),
) -> EdiValReport:
    """Every table for which there are scores. Of several judges (versions), the others are compared with the first.

    `baselines`: other judges whose yes-or-no verdicts or scores are compared with people too.
    """
    view = View(workspace)
    styles = style_tables(view)
    sets = [read_scored(view, judge) for judge in _chosen_sets(view, judges, styled=bool(styles))]
    if not (sets and sets[0].outputs):
        if styles:
            return EdiValReport(
                reports.ScoredSet(()), tuple(styles), {"judges": [], "overall": rule, "complete_cases": complete}
            )
        raise UserError("There are no EdiVal scores.", hint=f"Run `{command_line('edival score')}` first.")
    agreed = _agreement(view, sets, baselines)
    if complete:
        sets = [reports.complete_cases(scored) for scored in sets]
    tables = reports.report_tables(sets[0], rule)
    for mode in ("multi_turn", "complex", "single"):
        if len(sets) > 1 and sets[0].editors(mode):
            tables += [reports.settings_table(sets, mode)]
            tables += [
                reports.swap_table([swap for other in sets[1:] for swap in reports.tool_swap(sets[0], other, mode)])
            ]
    tables += [*agreed, *styles]
    settings = {"judges": [scored.name for scored in sets], "overall": rule, "complete_cases": complete}
    return EdiValReport(sets[0], tuple(tables), settings)


def _chosen_sets(view: View, judges: Sequence[str] | None, *, styled: bool) -> list[ChosenJudge]:
    """The sets of tools to report on, the main one first: those requested, else all that EdiVal's judges used."""
    if judges:
        return [judge for judge in chosen_judges(view, list(judges)) if judge.judge.startswith("edival")]
    names = [name for name in view.variants.judges if name.partition("/")[0] == "edival"]
    if not names and not styled:
        raise UserError("There are no EdiVal scores.", hint=f"Run `{command_line('edival score')}` first.")
    return [tool_set.judge for name in names for tool_set in tool_sets(view, name)]


def write_edival_report(report: EdiValReport, folder: Path) -> list[Path]:
    """Write each table as a CSV file, and Pareto fronts and trends as plots. Returns the files written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"Cannot write into {folder}: {error.strerror}.") from error
    written = []
    for number, table in enumerate(report.tables, 1):
        words = "-".join(re.findall(r"[a-z0-9]+", table.title.lower()))[:60].strip("-")
        path = folder / f"{number:02d}-{words}.csv"
        path.write_text(to_csv(table), encoding="utf-8")
        written.append(path)
    return written + reports.save_edival_plots(report.scored, folder)


def read_scored(view: View, judge: ChosenJudge) -> reports.ScoredSet:
    """A judge's scores that count, one row per output, including undecided ones."""
    bodies: dict[str, dict[str, dict[str, Any]]] = {dimension: {} for dimension in _DIMENSIONS}
    dimension_of: dict[int, str] = {}
    for dimension in _DIMENSIONS:
        variants = [variant for variant in judge.variants if variant.dimension == dimension]
        dimension_of |= dict.fromkeys(live_judgments(view, variants).seq.tolist(), dimension)
    unscored: Counter[str] = Counter()
    tools: dict[str, str] = {}
    for row in view.workspace.store.rows(Judgment, judge=judge.judge):
        about = dimension_of.get(row["seq"])
        if about is None or row["right_id"] is not None:
            continue
        body = json.loads(row["body"])
        earlier = bodies[about].get(row["left_id"])
        if earlier is None or earlier["status"] != Status.OK.value:
            bodies[about][row["left_id"]] = {**body, "status": row["status"]}
        tools |= body.get("reasons", {}).get("tools", {})
    for dimension, by_output in bodies.items():
        for body in by_output.values():
            if body["status"] != Status.OK.value:
                unscored[f"{dimension}: {body.get('error', '') or body['status']}"] += 1
    ids = {output for by_output in bodies.values() for output in by_output}
    outputs, missing = _outputs(view.workspace, ids, bodies)
    return reports.ScoredSet(tuple(outputs), missing, tools, judge.name, dict(unscored))


def _outputs(
    workspace: Workspace, ids: set[str], bodies: dict[str, dict[str, dict[str, Any]]]
) -> tuple[list[reports.ScoredOutput], dict[tuple[str, str, int], int]]:
    items = {item.item_id: item for item in workspace.store.records(Item) if object_plan(item) is not None}
    scored: list[reports.ScoredOutput] = []
    turns_by_editor: dict[tuple[str, str], dict[int, set[str]]] = {}
    requested: dict[tuple[str, str], set[str]] = defaultdict(set)
    """The items that an editor attempted in a mode, with or without success."""
    for output in workspace.store.records(Output):
        if output.item_id not in items or output.editor is None:
            continue
        requested[output.editor, output.mode.value].add(output.item_id)
        if output.sample:
            continue
        turns = turns_by_editor.setdefault((output.editor, output.mode.value), {})
        turns.setdefault(output.turn, set())
        if output.status is Status.OK:
            turns[output.turn].add(output.item_id)
        if output.output_id in ids:
            scored.append(_scored_output(output, items[output.item_id], bodies))
    missing = {
        (editor, mode, turn): len(requested[editor, mode] - items_done)
        for (editor, mode), turns in turns_by_editor.items()
        for turn in range(max(turns) + 1)
        if len(requested[editor, mode] - (items_done := turns.get(turn, set())))
    }
    return scored, missing


def _scored_output(output: Output, item: Item, bodies: dict[str, dict[str, dict[str, Any]]]) -> reports.ScoredOutput:
    following, consistent, quality = (bodies[name].get(output.output_id, {}) for name in _DIMENSIONS)
    edits = tuple(
        reports.ScoredEdit(edit["type"], edit["passed"], edit["reason"], edit.get("replace_rules", {}))
        for edit in following.get("reasons", {}).get("edits", ())
    )
    base = item.sources[0]
    connector = output.params.get("connector", "") if output.mode is Mode.COMPLEX else ""
    return reports.ScoredOutput(
        item.item_id, output.editor or "", output.mode.value, output.turn, edits,
        consistent.get("scores", {}), quality.get("scores", {}), base.width == base.height,
        bool(consistent.get("reasons", {}).get("resized", False)), output.latency_s, str(connector), output.output_id,
    )  # fmt: skip


# ---------------------------------------------------------------- people


def _agreement(view: View, sets: Sequence[reports.ScoredSet], baselines: Sequence[str]) -> list[Table]:
    """Agreement with people for each set of tools and each baseline; empty if nobody rated the edits."""
    marks = yes_of_people(view, FOLLOWING)
    if not marks:
        return []
    people = majorities(marks)
    marginals = [_marginals(scored, marks.keys()) for scored in sets]
    types = {output: kind for decisions in marginals for output, (kind, _) in decisions.items()}
    lines: list[reports.BinaryAgreement] = []
    for kind in (*sorted(set(types.values())), "overall"):
        for scored, decisions in zip(sets, marginals, strict=True):
            decided = {key: yes for key, (of, yes) in decisions.items() if kind in (of, "overall") and yes is not None}
            compared = {key: yes for key, yes in decided.items() if key in people}
            lines.append(
                reports.binary_agreement(scored.name, kind, list(compared.values()), [people[key] for key in compared])
            )
        lines += _baseline_lines(view, kind, types, people, baselines)
    return [
        reports.people_table(
            lines, reports.rater_ceiling({key: answers for key, answers in marks.items() if key in types})
        )
    ]


def _marginals(scored: reports.ScoredSet, rated: Collection[str]) -> dict[str, tuple[str, bool | None]]:
    """For outputs that people rated: the type of the last edit, and whether these tools found it carried out."""
    fitting = [output for output in scored.outputs if output.output_id in rated and output.edits]
    return {output.output_id: (output.edits[-1].type, output.marginal) for output in fitting}


def _baseline_lines(
    view: View, kind: str, types: dict[str, str], people: dict[str, bool], baselines: Sequence[str]
) -> list[reports.BinaryAgreement]:
    lines = []
    for judge in chosen_judges(view, list(baselines)) if baselines else ():
        columns = first_scores(live_judgments(view, judge.variants))
        scores = {view.entries.id_of(int(at)): float(s) for at, s in zip(columns.left, columns.score, strict=True)}
        parts: dict[str, list[str]] = {}
        for key, value in scores.items():
            if key in types and key in people and np.isfinite(value) and kind in (types[key], "overall"):
                parts.setdefault(types[key], []).append(key)
        says: list[bool] = []
        truth: list[bool] = []
        at: float | None = None
        answers = {scores[key] for ids in parts.values() for key in ids} <= {0.0, 1.0}
        for ids in parts.values():  # one threshold per type, as the paper tunes CLIP_dir
            at = 0.5 if answers else reports.best_threshold([scores[key] for key in ids], [people[key] for key in ids])
            says += [scores[key] >= at for key in ids]
            truth += [people[key] for key in ids]
        line = reports.binary_agreement(judge.name, kind, says, truth, at)
        lines.append(replace(line, threshold=None) if kind == "overall" or answers else line)
    return lines


_OWN = ("dimension", "tools", "also_quality", "images")


@dataclass(frozen=True)
class ToolSet:
    """The scores of one judge by one set of tools."""

    judge: ChosenJudge
    settings: Mapping[str, Any]

    def changes(self, other: "ToolSet") -> str:
        """Settings in which this set differs from another, such as `threshold 0.45` or `features dino`."""
        ours, theirs = _flat(self.settings), _flat(other.settings)
        parts = [
            f"{name} {'not set' if ours.get(name) is None else ours[name]}"
            for name in sorted({*ours, *theirs})
            if ours.get(name) != theirs.get(name)
        ]
        return ", ".join(parts) or "version of a tool"


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in _OWN}


def tool_sets(view: View, judge: str) -> list[ToolSet]:
    """The sets of tools of a judge that have scores: the one with the most dimensions first, then the newest."""
    groups: dict[str, list[JudgeVariant]] = {}
    for variant in view.variants.chosen([judge], pairwise=False):
        params = json.loads(variant.params)
        params.pop("dimension", None)
        groups.setdefault(f"{variant.judge_version} {canonical_json(params)}", []).append(variant)

    def rank(variants: Sequence[JudgeVariant]) -> tuple[int, int]:
        return len({variant.dimension for variant in variants}), int(view.judgments(variants).seq.max(initial=0))

    ordered = sorted(groups.values(), key=rank)[::-1]
    sets = [ToolSet(ChosenJudge(judge, judge, tuple(variants)), json.loads(variants[0].params)) for variants in ordered]
    if not sets:
        return []
    first, result = sets[0], [sets[0]]
    for number, tool_set in enumerate(sets[1:], 2):
        label = f"{judge}: {tool_set.changes(first)}"
        if label in {other.judge.name for other in result}:
            label = f"{label} ({number})"
        result.append(ToolSet(ChosenJudge(label, judge, tool_set.judge.variants), tool_set.settings))
    return result
