"""`python -m graphflow` is the command line."""

from graphflow.cli import main

if __name__ == "__main__":
    main(prog_name="graphflow")
