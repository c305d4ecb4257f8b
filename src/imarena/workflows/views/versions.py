"""Judges by name and version: NAME is the version that counts, NAME@VERSION a specific one."""

from collections.abc import Sequence
from dataclasses import dataclass

from imarena.core import UnknownName, sha256_hex, suggestion
from imarena.storage import Form
from imarena.workflows.views.forms import Version, has_outdated_dimension, version_of
from imarena.workflows.views.view import View

AT = "@"


@dataclass(frozen=True)
class ChosenJudge:
    """A judge with its chosen forms. `name` includes the version if one was given."""

    name: str
    judge: str
    forms: tuple[Form, ...]

    @property
    def dimensions(self) -> frozenset[str]:
        """The dimensions of its verdicts."""
        return frozenset(form.dimension for form in self.forms)


def version_names(forms: Sequence[Form]) -> dict[Version, str]:
    """A short name for each version among one judge's forms: its version, plus whatever distinguishes it from others.

    Two versions about different dimensions, or one that compares and one that scores, may share a name.
    """
    kinds: dict[Version, set[tuple[str, bool]]] = {}
    for form in forms:
        kinds.setdefault(version_of(form), set()).add((form.dimension, form.pairwise))
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
    for name in names or view.forms.judges:
        plain, at, version = name.rpartition(AT)
        if at and name not in view.forms.judges:
            matches += [match for judge in judges_called(view, [plain]) for match in _of_version(view, judge, version)]
        else:
            judges = [name] if name in view.forms.judges else judges_called(view, [name])
            matches += [ChosenJudge(judge, judge, tuple(view.forms.counting([judge]))) for judge in judges]
    return list({match.name: match for match in matches}.values())


def _of_version(view: View, judge: str, version: str) -> list[ChosenJudge]:
    """The versions of a judge that match: by full name, or by the judge's or the prompt's version."""
    forms = view.forms.chosen([judge])
    names = version_names(forms)
    exact = [key for key, name in names.items() if name == version]
    fitting = exact or [key for key in names if version in (key[0], key[2])]
    if not fitting:
        hint = suggestion(version, names.values(), f"It has: {', '.join(names.values())}.")
        raise UnknownName(f"Judge '{judge}' has no version '{version}'.", hint=hint)
    labels = dict.fromkeys(names[key] for key in fitting)
    return [
        ChosenJudge(f"{judge}{AT}{name}", judge, tuple(form for form in forms if names[version_of(form)] == name))
        for name in labels
    ]


def judges_called(view: View, names: list[str]) -> list[str]:
    """The judges with these names: by full name, by kind, or by a table of imarena.toml. Raises for an unknown name."""
    judges = view.forms.judges
    result: list[str] = []
    for name in names:
        meant = {name, _recorded_as(view, name)}
        fitting = [judge for judge in judges if judge in meant or judge.partition("/")[0] in meant]
        if not fitting:
            listed = (
                f"The workspace has: {', '.join(judges)}." if judges else "Run `imarena judge` or `imarena battle`."
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
    """One version of a judge: its forms about one dimension, and the one that gave the newest verdict."""

    name: str
    forms: tuple[Form, ...]
    newest: Form


def versions_of(view: View, judge: ChosenJudge, dimension: str) -> list[JudgeVersion]:
    """The versions of a judge on one dimension, oldest first; the one that counts (`judge.forms`) comes last.

    For a judge chosen by version, only that one. Forms with an outdated dimension are left out.
    """
    counting = [form for form in judge.forms if form.dimension == dimension]
    names = version_names(view.forms.chosen([judge.judge]))
    earlier: dict[Version, list[Form]] = {}
    if judge.name == judge.judge:
        for form in view.forms.chosen([judge.judge], dimension):
            if form not in counting and not has_outdated_dimension(form):
                earlier.setdefault(version_of(form), []).append(form)
    groups = [(_newest(view, forms), forms) for forms in earlier.values()]
    ordered = sorted(groups, key=lambda group: group[0][0])
    ordered.append((_newest(view, counting), counting))
    return [JudgeVersion(names[version_of(newest)], tuple(forms), newest) for (_, newest), forms in ordered]


def _newest(view: View, forms: Sequence[Form]) -> tuple[int, Form]:
    last = [(int(view.judgments([form]).seq.max(initial=0)), number) for number, form in enumerate(forms)]
    seq, number = max(last)
    return seq, forms[number]
