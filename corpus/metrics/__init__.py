"""Numbers about the work of all processes of a site: counted in files, described in one catalogue."""
