from .core.errors import ImarenaError as ImarenaError
from .core.errors import UserError as UserError
from .core.protocols import Editor as Editor
from .core.protocols import EditRequest as EditRequest
from .core.protocols import EditResult as EditResult
from .core.protocols import Exhibit as Exhibit
from .core.protocols import Judge as Judge
from .core.protocols import Verdict as Verdict
from .core.records import Item as Item
from .core.records import Judgment as Judgment
from .core.records import Mode as Mode
from .core.records import Order as Order
from .core.records import Outcome as Outcome
from .core.records import Output as Output
from .core.records import Ranking as Ranking
from .core.records import Status as Status
from .core.records import Turn as Turn
from .core.records import Vote as Vote
from .ranking import rank as rank
from .stats import battles_needed as battles_needed
from .stats import krippendorff_alpha as krippendorff_alpha
from .storage import Workspace as Workspace
from .storage import init_workspace as init_workspace
from .storage import open_workspace as open_workspace
from .workflows.boards import BoardQuery as BoardQuery
from .workflows.boards import board as board

__version__: str
