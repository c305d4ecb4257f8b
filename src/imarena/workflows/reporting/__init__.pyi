from .known_truth import known_truth as known_truth
from .report import write_report as write_report
