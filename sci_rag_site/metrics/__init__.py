"""What monitors read: counting requests, and `/metrics`."""
