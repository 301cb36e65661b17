"""Libraries of reference managers: read, matched with their files, handed to the ingestion."""
