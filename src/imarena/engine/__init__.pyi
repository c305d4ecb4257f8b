from .run import RunPlan as RunPlan
from .run import RunTally as RunTally
from .run import computing as computing
from .run import run_async as run_async
from .run import run_plan as run_plan
