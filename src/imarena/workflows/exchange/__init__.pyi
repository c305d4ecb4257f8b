from .exporting import export_records as export_records
from .importing import ImportReport as ImportReport
from .importing import WorkspaceIntake as WorkspaceIntake
from .importing import import_records as import_records
