from .best_of import BestOf as BestOf
from .loop import STAGES as STAGES
from .loop import Agent as Agent
from .loop import AgentSettings as AgentSettings
from .loop import Stages as Stages
from .rules import RulePlanner as RulePlanner
from .spec import Planner as Planner
from .vlm import ChatPlanner as ChatPlanner
