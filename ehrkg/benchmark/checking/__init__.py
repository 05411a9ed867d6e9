"""Whether a finished benchmark is sound: every rule and every adversary, measured."""
