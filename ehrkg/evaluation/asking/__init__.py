"""What a model is asked and what it answered: settings, prompts, controls, answers read."""
