from .doctor import Check as Check
from .doctor import examine as examine
from .status import WorkspaceStatus as WorkspaceStatus
from .status import workspace_status as workspace_status
from .upgrade import upgrade_workspace as upgrade_workspace
