"""CV-Agent: understand, plan, closed loop. And best of N, its baseline."""

from imarena.agent.best_of import BestOf
from imarena.agent.loop import STAGES, Agent, AgentSettings, Stages
from imarena.agent.rules import RuleMind
from imarena.agent.spec import EditPlan, Mind, Spec
from imarena.agent.vlm import ChatMind

__all__ = [
    "STAGES",
    "Agent",
    "AgentSettings",
    "BestOf",
    "ChatMind",
    "EditPlan",
    "Mind",
    "RuleMind",
    "Spec",
    "Stages",
]
