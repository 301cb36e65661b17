"""The corpus as tools of the Model Context Protocol, over stdio and over HTTP, under the rights of a key."""
