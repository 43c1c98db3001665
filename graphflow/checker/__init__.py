"""The contract checker: rules over the facts of a graph."""

from graphflow.checker.diagnostics import Diagnostic, Related, Report
from graphflow.checker.engine import Settings, check_graph, rule_of

__all__ = ["Diagnostic", "Related", "Report", "Settings", "check_graph", "rule_of"]
