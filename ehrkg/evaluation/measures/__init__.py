"""Figures of scores: accuracy and its breakdowns, calibration, ranks, significance."""
