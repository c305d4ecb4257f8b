from .doctor import Check as Check
from .doctor import examine as examine
from .status import WorkspaceStatus as WorkspaceStatus
from .status import status as status
from .upgrade import upgrade as upgrade
