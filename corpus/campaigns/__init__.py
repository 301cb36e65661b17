"""From a topic or a list of DOIs to a governed collection, with a record of every step."""
