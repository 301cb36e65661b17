"""Ground truth: questions with the evidence an expert expects, and who signed them."""
