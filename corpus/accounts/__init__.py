"""Who signs in and how: passwords and their throttle, sessions, and a provider that vouches for people."""
