"""Keys by which programs act for an account: what they may do, what they may see, how often."""
