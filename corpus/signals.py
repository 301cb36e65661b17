"""What the corpus tells the apps above it, which it may not import."""

from __future__ import annotations

from django.dispatch import Signal

# The editorial status of a work, or whether a document of it is held back, is another than before.
# Sent with `source_id` once the change is committed;
# whoever hears it reads the status from the row, so that hearing it twice, late or never does no harm.
standing_changed = Signal()

# A work without an identifier turned out to be another one. Sent with the ids `old` and `new` inside the
# transaction that says so: what refers to the old record is to refer to the new one.
identified = Signal()
