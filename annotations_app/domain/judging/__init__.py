"""What a judge asks a model, how its answer is read, and the judge that works offline."""
