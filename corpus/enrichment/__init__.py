"""What indexes say about the works that are held: asked for, checked, and recorded."""
