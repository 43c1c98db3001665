"""Executing a graph: the plan, the pure machine, the journal and the driver."""
