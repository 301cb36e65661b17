"""The notebook: what people keep, with the sources behind it."""
