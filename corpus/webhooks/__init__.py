"""Telling other systems that something happened: addresses, a ledger of deliveries, and signed messages."""
