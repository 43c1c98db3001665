"""The graph IR: its nodes, the graph, the builder that agents lower to, the text form."""
