"""What is declared, and how a cell becomes a code."""
