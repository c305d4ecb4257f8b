"""Agreement between judges that were asked about the same dimension."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from imarena.judges import HealthFindings, JudgeHealth
from imarena.judges import health as figures
from imarena.workflows.studies.health_data import JudgeAnswers, PairKey

TOGETHER = "The judges together"


def agreement_among_judges(forms: Mapping[str, Sequence[JudgeAnswers]]) -> JudgeHealth:
    """Agreement among the newest forms of the judges, for each dimension apart."""
    health = HealthFindings(TOGETHER)
    groups: dict[str, list[JudgeAnswers]] = defaultdict(list)
    for _, answers in sorted(forms.items()):
        groups[answers[-1].dimension].append(answers[-1])
    for dimension, judges in sorted(groups.items()):
        _agreement(health, dimension, judges)
    if len(forms) > 1 and not health.lines:
        health.needs("two_judges")
    return health.health()


def _agreement(health: HealthFindings, dimension: str, judges: Sequence[JudgeAnswers]) -> None:
    """On the pairs of battles, for scores by their sign; where none of them fought battles, on all pairs scored."""
    if len(judges) < 2:
        return
    keys = set().union(*(answers.keys() for answers in judges)) or set().union(*map(pairs_of_points, judges))
    table = {answers.name: {key: answers.battle(key) for key in keys} for answers in judges}
    shared = [key for key in keys if sum(row[key] is not None for row in table.values()) > 1]
    table = {name: row for name, row in table.items() if any(row[key] is not None for key in shared)}
    if len(table) < 2:
        return
    agreement = figures.judge_agreement(table)
    group = f"{dimension}: {', '.join(sorted(table))}"
    health.add("Do they agree with each other? (nominal alpha)", agreement.alpha, group=group)
    health.add("Equal verdicts of two judges", agreement.equal, group=group)


def pairs_of_points(answers: JudgeAnswers) -> list[PairKey]:
    """Every two outputs of the same item, turn and mode that were scored."""
    groups: dict[int, set[str]] = defaultdict(set)
    for output, unit in answers.units.items():
        groups[unit].add(output)
    return [pair for outputs in groups.values() for pair in combinations(sorted(outputs), 2)]
