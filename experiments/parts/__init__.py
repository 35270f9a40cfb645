"""The parts of the reproduction, one page of docs/paper each."""
