"""Who decides in a curation run: the rules, or the model at an endpoint."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from imarena.clients import Budget
from imarena.core import Chat, Settings
from imarena.curation import ChatMind, CurationMind, RuleMind
from imarena.workflows.wiring import EndpointArguments, wire_chat


@dataclass(frozen=True)
class CurationChat:
    """A mind and, where it is a model, its chat and what opens it."""

    mind: CurationMind
    chat: Chat | None = None
    opened: Callable[[], AbstractAsyncContextManager[None]] | None = None


def wire_mind(settings: Settings, arguments: EndpointArguments, max_cost_usd: float | None = None) -> CurationChat:
    """The model that the arguments name; without any, the rules."""
    if not (arguments.endpoint or arguments.base_url or arguments.model):
        return CurationChat(RuleMind())
    budget = Budget(max_cost_usd) if max_cost_usd is not None else None
    chat = wire_chat(settings, arguments, "curation", budget)
    return CurationChat(ChatMind(chat, chat.endpoint.model), chat, chat.opened)
