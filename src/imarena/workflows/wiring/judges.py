"""From settings and command-line arguments to judges: which one, at which endpoint, with which options."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from imarena import judges
from imarena.clients import Budget, ChatClient, CostLimitReached, Endpoint, read_endpoint
from imarena.clients import ChatBackend as Client
from imarena.core import (
    Chat,
    ChatAnswer,
    ChatPrompt,
    Judge,
    JudgeTraits,
    Settings,
    UnknownName,
    UserError,
    command_line,
    suggestion,
)
from imarena.core.records import ImageRef, JsonDict, Usage
from imarena.vision import is_qwen_vl, load_qwen_chat, model_folder, needs_own_processor, weights_sha256

LOCAL = "local_model"
"""An endpoint table with this key names a model that runs in this process, through the `vision` extra."""

_LOOK_AGAIN_S = 0.2
FUNCTION = "function:"
"""Prefix of `function:module:name`, a judge outside the catalog; the user names the function that makes it."""


@dataclass(frozen=True)
class EndpointArguments:
    """The command line's arguments for a judge and its endpoint; empty if not given."""

    endpoint: str = ""
    base_url: tuple[str, ...] = ()
    model: str = ""
    api_key_env: tuple[str, ...] = ()
    concurrency: int | None = None
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    executor: str = ""


class JudgeChat:
    """The chat of a judge: its client is open during a run; if the budget is reserved, it waits before it gives up.

    A request reserves its maximum cost. If that does not fit while others are running, it waits for them, because they
    will cost less than they reserve; only a request that does not fit alone ends the run.
    """

    def __init__(
        self, endpoint: Endpoint, budget: Budget | None = None, local: Mapping[str, JsonValue] | None = None
    ) -> None:
        self.endpoint = endpoint
        self.budget = budget
        self._local = local
        self._chat: Chat | None = None
        self._settled = asyncio.Condition()

    @property
    def local(self) -> Mapping[str, JsonValue] | None:
        """How the model is loaded, if it runs in this process."""
        return self._local

    @property
    def runs_here(self) -> bool:
        """Whether the model runs in this process."""
        return self._local is not None

    @property
    def concurrency(self) -> int:
        """How many questions to ask at once to keep the endpoint busy."""
        return self.endpoint.max_concurrency * len(self.endpoint.pairs)

    @property
    def endpoint_name(self) -> str:
        """The name of the endpoint in the settings."""
        return self.endpoint.name

    def cost_usd(self, usage: Usage) -> float | None:
        """The price of this many tokens; None if it is not known."""
        return self.endpoint.cost_usd(usage)

    def image_tokens(self, image: ImageRef | None) -> float:
        """The tokens of an image at this endpoint; for an unknown image, of a default size."""
        if image is None:
            return judges.UNKNOWN_PIXELS / judges.PIXELS_PER_TOKEN
        return judges.endpoint_tokens(self.endpoint, image)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Open the client while the judge is asked."""
        self._settled = asyncio.Condition()
        if self._local is not None:
            self._chat = judges.chat_with_client(_load_local(self._local), self.endpoint.preparation)
            yield
            return
        async with ChatClient(self.endpoint, budget=self.budget) as connection:
            self._chat = judges.chat_with_client(connection, self.endpoint.preparation)
            try:
                yield
            finally:
                self._chat = None

    async def __call__(self, prompt: ChatPrompt) -> ChatAnswer:
        """Ask the model."""
        if self._chat is None:
            raise UserError("The judge's endpoint is not open.", hint="Ask it inside `opened()`.")
        while True:
            try:
                return await self._ask(self._chat, prompt)
            except CostLimitReached:
                if self.budget is None or self.budget.reserved_usd <= 0:
                    await self._wake()  # others may have waited for this retry, which no longer fits
                    raise
                async with self._settled:
                    if self.budget.reserved_usd > 0:
                        # Another chat may hold the money (an agent has an editor's, a judge's and a mind's), which
                        # notifies nobody here: check again after a while.
                        with suppress(TimeoutError):
                            await asyncio.wait_for(self._settled.wait(), _LOOK_AGAIN_S)

    async def _ask(self, chat: Chat, prompt: ChatPrompt) -> ChatAnswer:
        ended = True
        try:
            return await chat(prompt)
        except CostLimitReached:
            ended = False
            raise
        finally:
            if ended:
                await self._wake()

    async def _wake(self) -> None:
        async with self._settled:
            self._settled.notify_all()


def _load_local(table: Mapping[str, JsonValue]) -> Client:
    from imarena.clients import load_vlm

    options: dict[str, Any] = {name: str(table[name]) for name in ("device", "dtype", "revision") if name in table}
    folder = Path(str(table[LOCAL])).expanduser()
    if needs_own_processor() and is_qwen_vl(folder):
        options["processor"] = load_qwen_chat(folder)
    return load_vlm(str(table[LOCAL]), **options)


@dataclass(frozen=True)
class JudgeRecipe:
    """A judge with a local model, in a form that can be sent to workers: each makes it again."""

    maker: str
    """A kind of the catalog, or `function:module:name`."""
    options: JsonDict
    endpoint: Endpoint
    """How to prepare images."""
    model: Mapping[str, JsonValue]

    def make(self) -> tuple[Judge, JudgeChat]:
        """Make the judge and its chat, which is not open."""
        client = JudgeChat(self.endpoint, None, self.model)
        own = self.maker.startswith(FUNCTION)  # then the user named it: `wire_judge` takes other kinds from the catalog
        make = _own_judge(self.maker) if own else judges.JUDGES.get(self.maker)
        return make(self.options, client), client


class _ThroughClient:
    """What an estimate needs to know about the client of a judge or of a model."""

    client: JudgeChat | None

    @property
    def endpoint(self) -> Endpoint | None:
        """The endpoint that it asks, if any."""
        return self.client.endpoint if self.client else None

    @property
    def runs_here(self) -> bool:
        """Whether it is a model in this process, which answers one question after the other, at no cost."""
        return self.client is not None and self.client.runs_here

    @property
    def concurrency(self) -> int:
        """How many questions to ask at once to keep the endpoint busy."""
        return self.client.concurrency if self.client else 8


@dataclass(frozen=True)
class WiredJudge(_ThroughClient):
    """A judge ready to be asked."""

    judge: Judge
    kind: str
    shape: judges.Shape
    dimension: str = "overall"
    client: JudgeChat | None = None
    recipe: JudgeRecipe | None = None
    """Of a judge with a local model."""

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.judge.name

    @property
    def traits(self) -> JudgeTraits:
        """The judge's traits."""
        return self.judge.traits


@dataclass(frozen=True)
class ChatTask(_ThroughClient):
    """A model asked for something else than a verdict, in the form that an estimate takes (`judges.estimate_sizes`)."""

    name: str
    client: JudgeChat
    max_reply_tokens: int | None = None

    @property
    def traits(self) -> JudgeTraits:
        """One question for each answer."""
        return JudgeTraits(max_reply_tokens=self.max_reply_tokens)


def wire_judge(
    settings: Settings, name: str, arguments: EndpointArguments | None = None, budget: Budget | None = None
) -> WiredJudge:
    """Return the judge called `name`: a table ``[judges.NAME]`` of the settings, a catalog name, or `function:M:F`."""
    arguments = arguments or EndpointArguments()
    table = dict(settings.judges.get(name, {}))
    own = name.startswith(FUNCTION)  # only if the user names it: a workspace's file may come from others
    if not own and name not in settings.judges and name not in judges.JUDGES:
        raise UnknownName(
            f"There is no judge called '{name}'.",
            hint=suggestion(name, [*settings.judges, *judges.JUDGES.names()]) + f" Your own: {FUNCTION}MODULE:NAME.",
        )
    kind = str(table.pop("kind", name))
    at = str(table.pop("endpoint", ""))
    make = _own_judge(name) if own else judges.JUDGES.get(kind)  # settings of a workspace name no function
    card = judges.CARDS.get(kind, judges.JudgeCard(path="", shape="both", needs="nothing", about=""))
    options: JsonDict = {**table, **arguments.options}
    model = card.presets.get(str(options.get("preset", "")), card.default_model if arguments.base_url else "")
    if model and not arguments.model:
        arguments = replace(arguments, model=model)
    client = None
    endpoint = at or arguments.endpoint or arguments.base_url
    if card.needs == "chat" or (endpoint and (card.needs == "optional_chat" or kind not in judges.CARDS)):
        client = _judge_client(settings, at, arguments, kind, budget)
        options |= judges.endpoint_options(client.endpoint)
    elif card.needs == "vision" and arguments.model:
        options["model"] = arguments.model
    judge = make(options, client)
    recipe = None
    if client is not None and client.local is not None:
        recipe = JudgeRecipe(name if own else kind, options, client.endpoint, client.local)
    return WiredJudge(judge, kind, card.shape, judge.traits.dimension or card.dimension, client, recipe)


def _own_judge(name: str) -> judges.MakeJudge:
    from imarena.editors import load_function

    path = name.removeprefix(FUNCTION)
    make: Any = load_function(path)
    return judges.adapt_judge_maker(path.rpartition(":")[2], make)


def wire_lister(
    settings: Settings, arguments: EndpointArguments | None = None, budget: Budget | None = None
) -> WiredJudge:
    """Return the lister of expected objects: the model in the arguments, else the built-in reader."""
    from imarena.judges import OfflineLister, make_lister

    arguments = arguments or EndpointArguments()
    if not (arguments.endpoint or arguments.base_url):
        if arguments.model or arguments.options:
            raise UserError(
                "A model or an option needs an endpoint.",
                hint="Add --endpoint NAME of imarena.toml, or --base-url URL; without them the built-in reader lists.",
            )
        return WiredJudge(OfflineLister(), "builtin", "pointwise")
    client = _judge_client(settings, "", arguments, "expected objects", budget)
    return WiredJudge(
        make_lister({**arguments.options, **judges.endpoint_options(client.endpoint)}, client),
        "objects",
        "pointwise",
        client=client,
    )


def wire_chat(
    settings: Settings, arguments: EndpointArguments, purpose: str, budget: Budget | None = None
) -> JudgeChat:
    """Return the chat with the model in the arguments, for other purposes than judging."""
    return _judge_client(settings, "", arguments, purpose, budget)


def _judge_client(
    settings: Settings, at: str, arguments: EndpointArguments, kind: str, budget: Budget | None
) -> JudgeChat:
    if arguments.base_url:
        if not arguments.model:
            raise UserError("An address needs a model.", hint="Add --model NAME, as the server lists it.")
        table: dict[str, JsonValue] = {"base_url": list(arguments.base_url)}
        where = "the command line's endpoint"
    else:
        if arguments.model and not arguments.endpoint and (Path(arguments.model) / "config.json").is_file():
            folder = model_folder(arguments.model, f"The judge '{kind}'")
            model_id = f"{folder.name}@{weights_sha256(folder)[:12]}"  # folders of the same name are different models
            return _local_client({LOCAL: arguments.model}, {"model": model_id}, "the command line's model")
        if arguments.model and not arguments.endpoint and not at and arguments.model.startswith((".", "/", "~")):
            raise UserError(
                f"There is no model in the folder {arguments.model}: it has no config.json.",
                hint="Give --model FOLDER of a checkpoint, or --base-url URL --model NAME.",
            )
        name = arguments.endpoint or at or (next(iter(settings.endpoints)) if len(settings.endpoints) == 1 else "")
        if not name:
            raise UserError(
                f"The judge '{kind}' needs a model, and none is set.",
                hint="Give --endpoint NAME of imarena.toml, --base-url URL --model NAME, or --model FOLDER.",
            )
        if name not in settings.endpoints:
            none = None if settings.endpoints else "The workspace's imarena.toml names none."
            raise UnknownName(f"There is no endpoint called '{name}'.", hint=suggestion(name, settings.endpoints, none))
        table = {"name": name, **settings.endpoints[name]}
        where = f"[endpoints.{name}]"
    if arguments.model:
        table["model"] = arguments.model
    if arguments.api_key_env:
        table["api_key_env"] = list(arguments.api_key_env)
    if arguments.concurrency:
        table["max_concurrency"] = arguments.concurrency
    local = {key: table.pop(key) for key in (LOCAL, "device", "dtype", "revision") if key in table}
    return _local_client(local, table, where) if LOCAL in local else JudgeChat(read_endpoint(table, where), budget)


def _local_client(local: dict[str, JsonValue], table: dict[str, JsonValue], where: str) -> JudgeChat:
    """Return the chat with a model in this process; its endpoint only says how to prepare images."""
    options = {"base_url": "http://localhost", "model": str(local[LOCAL]), **table}
    return JudgeChat(read_endpoint(options, where), None, local)


def parse_option_values(pairs: Mapping[str, str]) -> dict[str, JsonValue]:
    """Parse options from the command line: as JSON if possible (numbers, true, lists), else as text."""
    values: dict[str, JsonValue] = {}
    for key, text in pairs.items():
        try:
            values[key] = json.loads(text)
        except ValueError:
            values[key] = text
    return values


def check_judge_shape(wired: WiredJudge, shape: judges.Shape, command: str) -> None:
    """Raise if a scoring judge is asked to compare, or the reverse."""
    if wired.shape not in (shape, "both"):
        fitting = [name for name, card in judges.CARDS.items() if card.shape in (shape, "both")]
        other = "battle" if shape == "pointwise" else "judge"
        raise UserError(
            f"The judge '{wired.kind}' is {wired.shape}: `{command}` cannot use it.",
            hint=f"Use `{command_line(other)}` with it, or one of: {', '.join(fitting)}.",
        )
