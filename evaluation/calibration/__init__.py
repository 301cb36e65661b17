"""People label the same answers blind, so that a judge's scores come with what they are worth."""
