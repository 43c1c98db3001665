"""What is true of a graph: the solver and the facts."""
