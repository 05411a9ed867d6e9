"""Answers in, rows of scores out, and into a finished build."""
