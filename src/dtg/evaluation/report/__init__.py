"""A report of several models: folders of results in, a page with tables and figures like the paper's out."""

from dtg.evaluation.report.finding import find
from dtg.evaluation.report.models import gather
from dtg.evaluation.report.writing import page_of, write_report

__all__ = ["find", "gather", "page_of", "write_report"]
