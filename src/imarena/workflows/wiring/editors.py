"""From names and settings to editors: ``studio-timid``, ``folder:outputs``, ``agent:classical``, a table, a model."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue, ValidationError

from imarena.agent import Agent, AgentSettings, BestOf, ChatPlanner, Planner, RulePlanner, Stages
from imarena.clients import Budget
from imarena.core import Editor, Settings, UnknownName, UserError, command_line, suggestion, validation_problem
from imarena.editors import (
    EDITOR_KINDS,
    EDITORS,
    OPERATIONS,
    PRICE_FIELDS,
    STUDIO_RECIPES,
    ModelCard,
    Ports,
    card_of,
    card_of_endpoint,
    describe_habit,
    model_cards,
)
from imarena.storage import Workspace
from imarena.workflows.wiring.judges import JudgeChat, WiredJudge, check_judge_shape, wire_judge

_STAGED: dict[str, Stages] = {
    "agent": "full", "agent-plan": "plan", "agent-understand": "understand", "agent-none": "none",
}  # fmt: skip
_BEST = re.compile(r"best-of-([1-9]\d{0,2})")
_BEST_OPTIONS = frozenset({"judge"})
_AGENT_OPTIONS = frozenset({"judge", "mind", "endpoint", *AgentSettings.model_fields})


@dataclass(frozen=True)
class EditorArguments:
    """The command line's arguments for editors."""

    options: Mapping[str, JsonValue] = field(default_factory=dict)
    trust: bool = False
    """Commands and functions named in the workspace's settings may run."""
    shown: str = ""
    """The name for the outputs of the command's only editor; empty: its own name."""


class EditorWiring:
    """Makes editors by name for one run; all of them share its budget."""

    def __init__(self, workspace: Workspace, wish: EditorArguments | None = None, budget: Budget | None = None) -> None:
        self.workspace = workspace
        self.wish = wish or EditorArguments()
        self.ports = Ports(budget)
        self.taken: set[str] = set()
        """Options of `wish` that at least one editor took."""

    @property
    def _settings(self) -> Settings:
        return self.workspace.settings

    def wire(self, text: str, *, of_file: bool = False, shown: str = "") -> Editor:
        """Return the editor called `text`; an unknown name raises and suggests.

        `of_file`: the name comes from the workspace's file, so commands and functions need trust. `shown`: the name
        under which its outputs are stored, instead of its own.
        """
        if of_file and text not in self._settings.editors:
            self._need_trust(text, text.partition(":")[0])
        of_table = text in self._settings.editors
        editor = self._of_table(text, shown) if of_table else self._of_text(text, shown, of_file=of_file)
        budget = self.ports.budget
        if budget is not None and editor.traits.usd_per_image is None:
            raise UserError(
                f"A cost limit needs prices, and the editor '{text}' has none.",
                hint="Set usd_per_image in its table or with --option usd_per_image=0.04 (0 for a server of your own).",
            )
        return editor

    def no_option_left(self) -> None:
        """Raise if no editor takes an option: it is probably a typo, and a run without it would mislead."""
        left = sorted(set(self.wish.options) - self.taken)
        if left:
            raise UserError(
                f"None of these editors takes the option '{left[0]}'.",
                hint="Studio and classical editors take none; best-of takes: judge; an agent takes: "
                + ", ".join(sorted(_AGENT_OPTIONS))
                + ".",
            )

    def _of_table(self, name: str, label: str = "") -> Editor:
        table = dict(self._settings.editors[name])
        kind = str(table.pop("kind", ""))
        label = label or str(table.pop("name", "")) or name
        if not kind:
            raise UserError(f"[editors.{name}] names no kind.", hint=f"Known: {', '.join([*EDITOR_KINDS, *_STAGED])}.")
        if kind in _STAGED or _BEST.fullmatch(kind):
            return self._of_agent(kind, label, table, str(table.pop("editor", "")), of_file=True)
        self._need_trust(name, kind)
        options = {**table, **self.wish.options}
        return self._make(kind, label, {**_card_options(kind, options), **options})

    def _need_trust(self, name: str, kind: str) -> None:
        if kind in EDITOR_KINDS and EDITOR_KINDS[kind].needs == "trust" and not self.wish.trust:
            raise UserError(
                f"The editor '{name[:120]}' would run a {kind} that the workspace's imarena.toml names.",
                hint="Read that table; if you trust it, run the same command with --trust.",
            )

    def _of_text(self, text: str, label: str = "", *, of_file: bool = False) -> Editor:
        kind, colon, argument_text = text.partition(":")
        if colon and (kind in _STAGED or _BEST.fullmatch(kind)):
            return self._of_agent(kind, label or text, {}, argument_text, of_file=of_file)
        options = dict(self.wish.options)
        if colon and kind in EDITORS:
            argument = EDITOR_KINDS[kind].argument if kind in EDITOR_KINDS else "argument"
            options[argument] = _list(argument_text) if argument == "argv" else argument_text
            return self._make(kind, label or _short_name(kind, argument_text), options)
        if text.removeprefix("studio-") in STUDIO_RECIPES and text.startswith("studio-"):
            return self._make("studio", label or text, {"habit": text.removeprefix("studio-")})
        if text == "classical" or text.startswith("classical-"):
            only = text.removeprefix("classical").removeprefix("-")
            return self._make("classical", label or text, {"operation": only} if only else {})
        card = card_of(text)
        if card is not None:
            if card.adapter is None:
                raise UserError(
                    f"'{card.title}' is described, but how to call it is not configured.",
                    hint=f"Write a table [editors.{card.name}] with a kind: {', '.join(EDITOR_KINDS)}.",
                )
            table = dict(card.adapter)
            kind = str(table.pop("kind"))
            options = {**table, **options}
            # Another model than the card's must not appear on a board under the card's name.
            own = card.name if options["model"] == table["model"] else str(options["model"])
            return self._make(kind, label or own, {**_card_options(kind, options), **options})
        if text in EDITORS and text not in EDITOR_KINDS:
            return self._make(text, label or text, options)
        folder = f"Did you mean 'folder:{text}'?" if Path(text).is_dir() else ""
        near = folder or _near(text, list(self._settings.editors))
        raise UnknownName(f"There is no editor called '{text}'.", hint=near)

    def _make(self, kind: str, name: str, options: Mapping[str, JsonValue]) -> Editor:
        plain = {key: value for key, value in options.items() if key not in _AGENT_OPTIONS}
        wished = self.wish.options
        self.taken |= {key for key, value in plain.items() if key in wished and wished[key] == value}
        return EDITORS.get(kind)(name, plain, self.ports)

    def _of_agent(
        self, kind: str, name: str, table: dict[str, JsonValue], inner: str, *, of_file: bool = False
    ) -> Editor:
        if not inner:
            raise UserError(f"'{name}' does not name the editor to wrap.", hint=f"Write {kind}:EDITOR.")
        agent_options = {**table, **{key: value for key, value in self.wish.options.items() if key in _AGENT_OPTIONS}}
        best = _BEST.fullmatch(kind)
        self.taken |= set(agent_options) & (_BEST_OPTIONS if best else _AGENT_OPTIONS)
        editor = self.wire(inner, of_file=of_file)
        wired = self._judge(str(agent_options.pop("judge", "builtin")))
        if best:
            if extra := sorted(set(table) - _BEST_OPTIONS):
                raise UserError(f"[editors.{name}] does not take: {', '.join(extra)}.", hint="Known: editor, judge.")
            return BestOf(name, editor, wired.judge, max(1, int(best[1])), wired.client)
        planner, planner_client = self._planner(
            str(agent_options.pop("mind", "builtin")), str(agent_options.pop("endpoint", ""))
        )
        try:
            settings = AgentSettings.model_validate({"stages": _STAGED[kind], **agent_options})
        except ValidationError as error:
            names = ", ".join(sorted(_AGENT_OPTIONS))
            problem = validation_problem(error)
            raise UserError(f"The agent '{name}': {problem.text}.", hint=f"Known: {names}.") from error
        return Agent(name, editor, wired.judge, planner, settings, wired.client, planner_client)

    def _judge(self, name: str) -> WiredJudge:
        wired = wire_judge(self._settings, name, None, self.ports.budget)
        check_judge_shape(wired, "pointwise", "judge")
        return wired

    def _planner(self, name: str, endpoint: str) -> tuple[Planner, JudgeChat | None]:
        """Return `builtin`, or the chat at a named endpoint whose model understands and plans."""
        planner = endpoint or name
        if planner in ("", "builtin"):
            return RulePlanner(), None
        if planner not in self._settings.endpoints:
            hint = suggestion(planner, ["builtin", *self._settings.endpoints])
            raise UnknownName(f"There is no endpoint called '{planner}' for the agent's mind.", hint=hint)
        from imarena.clients import read_endpoint

        target = read_endpoint({"name": planner, **self._settings.endpoints[planner]}, f"[endpoints.{planner}]")
        client = JudgeChat(target, self.ports.budget)
        return ChatPlanner(client, target.model), client


def _card_options(kind: str, options: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return price and withdrawal from the model's card as options; a price from the user takes precedence."""
    card = card_of_endpoint(kind, str(options.get("model", "")))
    if card is None or card.adapter is None or EDITOR_KINDS[kind].needs != "endpoint":
        return {}
    home = card.adapter.get("base_url")
    if options.get("base_url", home) != home:  # another server has other prices, or none
        return {}
    result: dict[str, JsonValue] = {}
    if card.price is not None and not PRICE_FIELDS & set(options):
        result = card.price.options(options, card.native_size)
    if card.withdrawn is not None:
        result["notice"] = (
            f"Its provider names {card.withdrawn} as the day on which {card.title} is switched off. Where requests "
            "fail, name its successor with --option model=NAME, or take finished outputs with folder:PATH."
        )
    return result


def wire_editors(
    workspace: Workspace, names: list[str], wish: EditorArguments | None = None, budget: Budget | None = None
) -> list[Editor]:
    """Return all editors of a command; a repeated name raises, because the outputs would share one place."""
    wiring = EditorWiring(workspace, wish, budget)
    shown_as = wish.shown if wish else ""
    if shown_as and len(names) != 1:
        raise UserError(
            f"{len(names)} editors cannot all be called '{shown_as}'.", hint="Name one with --as at a time."
        )
    editors = [wiring.wire(name, shown=shown_as) for name in names]
    wiring.no_option_left()
    labels = [editor.name for editor in editors]
    twice = {name for name in labels if labels.count(name) > 1}
    if twice:
        raise UserError(f"Two editors are called '{min(twice)}'.", hint="Give one another name in imarena.toml.")
    return editors


def editor_names(settings: Settings) -> dict[str, str]:
    """Return the names that `--editors` takes, with short descriptions."""
    names = {name: f"[editors.{name}] of imarena.toml" for name in settings.editors}
    names |= {f"studio-{habit}": f"bundled items only: {describe_habit(habit)}" for habit in STUDIO_RECIPES}
    names["classical"] = EDITOR_KINDS["classical"].about
    names |= {f"classical-{operation}": "that operation alone" for operation in OPERATIONS}
    names |= {f"{kind}:{about.argument.upper()}": about.about for kind, about in EDITOR_KINDS.items() if about.argument}
    names |= {"agent:EDITOR": "CV-Agent around an editor", "best-of-4:EDITOR": "the judge's choice of four"}
    names |= {card.name: _about(card) for card in model_cards().values() if card.adapter}
    return names


def _about(card: ModelCard) -> str:
    """Describe a model in one line: its name, its price or where it runs, and whether it is still available."""
    parts = [card.title, card.kind]
    if card.price is not None:
        parts.append(f"{card.price.per_image({}, card.native_size):g} USD per image or less ({card.price.as_of})")
    else:
        parts.append(card.no_price or "")
    if card.withdrawn is not None:
        parts.append(f"switched off {card.withdrawn}")
    return "; ".join(parts)


def _list(text: str) -> JsonValue:
    try:
        argv: JsonValue = json.loads(text)
    except ValueError as error:
        raise UserError(
            f"A command is a JSON list of arguments, not: {text[:80]}",
            hint='For example: command:["magick", "{source}", "-negate", "{output}"]',
        ) from error
    return argv


def _short_name(kind: str, text: str) -> str:
    """Return a short name for the leaderboard."""
    if kind == "folder":
        return text.rstrip("/").rsplit("/", 1)[-1] or "folder"
    if kind == "command":
        argv = _list(text)
        first = str(argv[0]) if isinstance(argv, list) and argv else "command"
        return f"command:{first.rsplit('/', 1)[-1]}"
    return text


def _near(name: str, tables: list[str]) -> str:
    names = [
        *tables,
        *(f"studio-{habit}" for habit in STUDIO_RECIPES),
        "classical",
        *(f"classical-{operation}" for operation in OPERATIONS),
        *model_cards(),
        *_STAGED,
    ]
    return suggestion(name, names, f"`{command_line('edit --list')}` shows what there is.")
