from .exporting import export_records as export_records
from .importing import ImportReport as ImportReport
from .importing import WorkspaceIntake as WorkspaceIntake
from .importing import import_dataset as import_dataset
from .importing import import_records as import_records
from .score_table import export_scores as export_scores
