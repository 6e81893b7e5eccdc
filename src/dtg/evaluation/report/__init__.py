"""A report of several models: a page with tables and figures like the paper's, made of folders of results."""

from dtg.evaluation.report.gathering import find, gather
from dtg.evaluation.report.writing import page_of, write_report

__all__ = ["find", "gather", "page_of", "write_report"]
