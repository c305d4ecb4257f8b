"""Agreement between judges that were asked about the same dimension."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from imarena.judges import health as figures
from imarena.workflows.studies.health_data import JudgeAnswers, PairKey
from imarena.workflows.studies.health_figures import JudgeHealth

TOGETHER = "The judges together"


def agreement_among_judges(forms: Mapping[str, Sequence[JudgeAnswers]]) -> JudgeHealth:
    """Agreement among the newest forms of the judges, for each dimension apart."""
    one = JudgeHealth(TOGETHER)
    groups: dict[str, list[JudgeAnswers]] = defaultdict(list)
    for _, said in sorted(forms.items()):
        groups[said[-1].dimension].append(said[-1])
    for dimension, judges in sorted(groups.items()):
        _agreement(one, dimension, judges)
    if len(forms) > 1 and not one.lines:
        one.needs("two_judges")
    return one


def _agreement(one: JudgeHealth, dimension: str, judges: Sequence[JudgeAnswers]) -> None:
    """On the pairs of battles, for scores by their sign; where none of them fought battles, on all pairs scored."""
    keys = set().union(*(said.keys() for said in judges)) or set().union(*map(pairs_of_points, judges))
    table = {said.name: {key: said.battle(key) for key in keys} for said in judges}
    shared = [key for key in keys if sum(row[key] is not None for row in table.values()) > 1]
    table = {name: row for name, row in table.items() if any(row[key] is not None for key in shared)}
    if len(table) < 2:
        return
    found = figures.judge_agreement(table)
    group = f"{dimension}: {', '.join(sorted(table))}"
    one.add("Do they agree with each other? (nominal alpha)", found.alpha, group=group)
    one.add("Equal verdicts of two judges", found.equal, group=group)


def pairs_of_points(said: JudgeAnswers) -> list[PairKey]:
    """Every two outputs of the same item, turn and mode that were scored."""
    groups: dict[int, set[str]] = defaultdict(set)
    for output, unit in said.units.items():
        groups[unit].add(output)
    return [pair for outputs in groups.values() for pair in combinations(sorted(outputs), 2)]
