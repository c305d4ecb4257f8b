"""Judges by name and version: NAME is the version that counts, NAME@VERSION a specific one."""

from collections.abc import Sequence
from dataclasses import dataclass

from imarena.core import UnknownName, command_line, sha256_hex, suggestion
from imarena.storage import JudgeVariant
from imarena.workflows.views.judge_variants import Version, has_outdated_dimension, version_of
from imarena.workflows.views.view import View

AT = "@"


@dataclass(frozen=True)
class ChosenJudge:
    """A judge with its chosen variants. `name` includes the version if one was given."""

    name: str
    judge: str
    variants: tuple[JudgeVariant, ...]

    @property
    def dimensions(self) -> frozenset[str]:
        """The dimensions of its verdicts."""
        return frozenset(variant.dimension for variant in self.variants)


def version_names(variants: Sequence[JudgeVariant]) -> dict[Version, str]:
    """A short name for each version of one judge: its version, plus whatever distinguishes it from others.

    Two versions about different dimensions, or one that compares and one that scores, may share a name.
    """
    kinds: dict[Version, set[tuple[str, bool]]] = {}
    for variant in variants:
        kinds.setdefault(version_of(variant), set()).add((variant.dimension, variant.pairwise))
    names = {version: version[0] or "unversioned" for version in kinds}
    for more in (_with_prompt, _with_params):
        short_names = dict(names)
        for version, name in short_names.items():
            rivals = (other for other, other_name in short_names.items() if other != version and other_name == name)
            if any(kinds[version] & kinds[other] for other in rivals):
                names[version] = more(version, name)
    return names


def _with_prompt(version: Version, name: str) -> str:
    return f"{name}+{version[2]}" if version[2] else name


def _with_params(version: Version, name: str) -> str:
    return f"{name}+{sha256_hex(repr(version).encode())[:6]}"


def chosen_judges(view: View, names: Sequence[str]) -> list[ChosenJudge]:
    """The judges with these names, or all judges. Raises for an unknown judge or version, and lists the known ones."""
    matches = []
    for name in names or view.variants.judges:
        plain, at, version = name.rpartition(AT)
        if at and name not in view.variants.judges:
            matches += [match for judge in judges_called(view, [plain]) for match in _of_version(view, judge, version)]
        else:
            judges = [name] if name in view.variants.judges else judges_called(view, [name])
            matches += [ChosenJudge(judge, judge, tuple(view.variants.counting([judge]))) for judge in judges]
    return list({match.name: match for match in matches}.values())


def _of_version(view: View, judge: str, version: str) -> list[ChosenJudge]:
    """The versions of a judge that match: by full name, or by the judge's or the prompt's version."""
    variants = view.variants.chosen([judge])
    names = version_names(variants)
    exact = [key for key, name in names.items() if name == version]
    fitting = exact or [key for key in names if version in (key[0], key[2])]
    if not fitting:
        hint = suggestion(version, names.values(), f"It has: {', '.join(names.values())}.")
        raise UnknownName(f"Judge '{judge}' has no version '{version}'.", hint=hint)
    labels = dict.fromkeys(names[key] for key in fitting)
    return [
        ChosenJudge(
            f"{judge}{AT}{name}", judge, tuple(variant for variant in variants if names[version_of(variant)] == name)
        )
        for name in labels
    ]


def judges_called(view: View, names: list[str]) -> list[str]:
    """The judges with these names: by full name, by kind, or by a table of imarena.toml. Raises for an unknown name."""
    judges = view.variants.judges
    result: list[str] = []
    for name in names:
        meant = {name, _recorded_as(view, name)}
        fitting = [judge for judge in judges if judge in meant or judge.partition("/")[0] in meant]
        if not fitting:
            listed = (
                f"The workspace has: {', '.join(judges)}."
                if judges
                else f"Run `{command_line('judge')}` or `{command_line('battle')}`."
            )
            hint = suggestion(name, judges, listed)
            raise UnknownName(f"There is no judgment by '{name}'.", hint=hint)
        result += fitting
    return result or judges


def _recorded_as(view: View, name: str) -> str:
    """The judge name in judgments made by a table ``[judges.NAME]``: its kind, and its endpoint's model, if any."""
    settings = view.workspace.settings
    table = settings.judges.get(name, {})
    kind = str(table.get("kind", name))
    model = settings.endpoints.get(str(table.get("endpoint", "")), {}).get("model")
    return f"{kind}/{model}" if model else kind


@dataclass(frozen=True)
class JudgeVersion:
    """One version of a judge: its variants about one dimension, and the one that gave the newest verdict."""

    name: str
    variants: tuple[JudgeVariant, ...]
    newest: JudgeVariant


def versions_of(view: View, judge: ChosenJudge, dimension: str) -> list[JudgeVersion]:
    """The versions of a judge on one dimension, oldest first; the one that counts (`judge.variants`) comes last.

    For a judge chosen by version, only that one. Forms with an outdated dimension are left out.
    """
    counting = [variant for variant in judge.variants if variant.dimension == dimension]
    names = version_names(view.variants.chosen([judge.judge]))
    earlier: dict[Version, list[JudgeVariant]] = {}
    if judge.name == judge.judge:
        for variant in view.variants.chosen([judge.judge], dimension):
            if variant not in counting and not has_outdated_dimension(variant):
                earlier.setdefault(version_of(variant), []).append(variant)
    groups = [(_newest(view, variants), variants) for variants in earlier.values()]
    ordered = sorted(groups, key=lambda group: group[0][0])
    ordered.append((_newest(view, counting), counting))
    return [JudgeVersion(names[version_of(newest)], tuple(variants), newest) for (_, newest), variants in ordered]


def _newest(view: View, variants: Sequence[JudgeVariant]) -> tuple[int, JudgeVariant]:
    last = [(int(view.judgments([variant]).seq.max(initial=0)), number) for number, variant in enumerate(variants)]
    seq, number = max(last)
    return seq, variants[number]
