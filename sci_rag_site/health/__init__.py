"""What `sci-rag doctor` looks at, shared with every other place that shows it."""
