"""Adapters that fit judges and editors from other packages to the ports.

A plug-in may be any object with the one required method. Only this module reads attributes of such an object; all other
code uses the ports.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from imarena.core.errors import UserError
from imarena.core.protocols import Editor, EditRequest, EditResult, Exhibit, Judge, Verdict
from imarena.core.records import JsonDict
from imarena.core.traits import EditorTraits, JudgeTraits

UNVERSIONED = "unversioned"
"""The version of a plug-in that states none: all its verdicts or outputs count as made by one version."""
_JUDGE_NAMES: JsonDict = {"version": UNVERSIONED, "prompt_id": "", "prompt_version": ""}
_JUDGE_VALUES = ("dimension", "cpu_bound")
_EDITOR_VALUES = (
    "usd_per_image", "price_as_of", "price_from", "notice", "deterministic", "wrappable", "needs_key",
)  # fmt: skip
T = TypeVar("T")


@dataclass(frozen=True)
class PluginJudge:
    """A third-party judge with the complete port."""

    plugin: Any
    name: str
    version: str
    prompt_id: str
    prompt_version: str
    params: JsonDict = field(default_factory=dict)
    traits: JudgeTraits = field(default_factory=JudgeTraits)

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Call the plug-in."""
        verdict: Verdict = await self.plugin.judge(exhibit)
        return verdict


@dataclass(frozen=True)
class PluginEditor:
    """A third-party editor with the complete port."""

    plugin: Any
    name: str
    version: str
    params: JsonDict = field(default_factory=dict)
    traits: EditorTraits = field(default_factory=EditorTraits)

    async def edit(self, request: EditRequest) -> EditResult:
        """Call the plug-in."""
        result: EditResult = await self.plugin.edit(request)
        return result


def adapt_judge(plugin: Any, name: str) -> Judge:
    """Return `plugin` as a judge. `name` is used if it has no name of its own.

    An object with the complete port is returned as it is. For others, missing names are filled in, and traits are read
    from attributes with the same names.
    """
    _need_method(plugin, "judge", f"The judge '{name}'")
    traits = _own_traits(plugin, JudgeTraits, f"The judge '{name}'")
    if traits is not None and all(hasattr(plugin, attribute) for attribute in ("name", *_JUDGE_NAMES, "params")):
        judge: Judge = plugin
        return judge
    return PluginJudge(
        plugin,
        str(getattr(plugin, "name", name)),
        **{attribute: str(getattr(plugin, attribute, default)) for attribute, default in _JUDGE_NAMES.items()},
        params=dict(getattr(plugin, "params", {})),
        traits=traits or _judge_traits(plugin),
    )


def adapt_editor(plugin: Any, name: str) -> Editor:
    """Same as `adapt_judge`, for an editor."""
    _need_method(plugin, "edit", f"The editor '{name}'")
    traits = _own_traits(plugin, EditorTraits, f"The editor '{name}'")
    if traits is not None and all(hasattr(plugin, attribute) for attribute in ("name", "version", "params")):
        editor: Editor = plugin
        return editor
    return PluginEditor(
        plugin,
        str(getattr(plugin, "name", name)),
        str(getattr(plugin, "version", UNVERSIONED)),
        dict(getattr(plugin, "params", {})),
        traits or _editor_traits(plugin),
    )


def has_coroutine(adapted: Judge | Editor, method: str) -> bool:
    """Return whether a method is a coroutine function, looking at the plug-in behind the port if there is one."""
    plugin = adapted.plugin if isinstance(adapted, PluginJudge | PluginEditor) else adapted
    return inspect.iscoroutinefunction(getattr(plugin, method))


def _need_method(plugin: Any, method: str, subject: str) -> None:
    if inspect.iscoroutine(plugin):
        plugin.close()  # nobody will await it, and Python would warn
        raise UserError(
            f"{subject} is made by a coroutine function.",
            hint=f"Write `def`, not `async def`, for what makes it; only `{method}` is a coroutine function.",
        )
    if not callable(getattr(plugin, method, None)):
        raise UserError(
            f"{subject} has no method `{method}`: it is a {type(plugin).__name__}.",
            hint=f"What makes it has to return an object with `async def {method}(self, ...)`.",
        )


def _own_traits(plugin: Any, kind: type[T], subject: str) -> T | None:
    """Return its `traits`; None if it declares none."""
    traits = getattr(plugin, "traits", None)
    if traits is None or isinstance(traits, kind):
        return traits
    raise UserError(
        f"{subject}: `traits` is {traits!r}, not a {kind.__name__}.",
        hint=f"Write `traits = {kind.__name__}(...)`, from imarena.core.protocols.",
    )


def _judge_traits(plugin: Any) -> JudgeTraits:
    return JudgeTraits(
        **_attributes(plugin, _JUDGE_VALUES),
        reader=plugin if _has(plugin, "reread", "parser_version") else None,
        resumable=plugin if _has(plugin, "usable", "resume") else None,
    )


def _editor_traits(plugin: Any) -> EditorTraits:
    return EditorTraits(
        **_attributes(plugin, _EDITOR_VALUES),
        opening=getattr(plugin, "opened", None),
        resumable=plugin if _has(plugin, "resume") else None,
        driven_by=str(dict(getattr(plugin, "params", {})).get("driven_by") or ""),
    )


def _attributes(plugin: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(plugin, name) for name in names if hasattr(plugin, name)}


def _has(plugin: Any, *names: str) -> bool:
    return all(hasattr(plugin, name) for name in names)
