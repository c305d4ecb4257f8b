from .run import Plan as Plan
from .run import Tally as Tally
from .run import computing as computing
from .run import run as run
from .run import run_async as run_async
