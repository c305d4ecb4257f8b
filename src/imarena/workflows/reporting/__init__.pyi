from .judge_study import judge_study as judge_study
from .known_truth import known_truth as known_truth
from .papers.data import read_leaderboard as read_leaderboard
from .papers.edival import edival_report as edival_report
from .papers.edival import write_edival_report as write_edival_report
from .report import ReportQuery as ReportQuery
from .report import write_report as write_report
