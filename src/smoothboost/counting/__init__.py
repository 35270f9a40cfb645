"""The only room that sees rows: integer sums over them."""
