from .known_truth import known_truth as known_truth
from .report import report as report
