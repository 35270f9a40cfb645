"""What leaves: the model, as file, words and text."""
