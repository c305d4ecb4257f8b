from .edival import edival_report as edival_report
from .edival import write_edival_report as write_edival_report
from .known_truth import known_truth as known_truth
from .report import ReportQuery as ReportQuery
from .report import write_report as write_report
