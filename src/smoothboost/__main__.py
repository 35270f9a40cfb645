"""`python -m smoothboost`: the command line, where its script is not on the path."""

from smoothboost.cli import app

if __name__ == "__main__":
    app(prog_name="smoothboost")
