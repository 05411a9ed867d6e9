"""What may stand beside an answer and what does: screens, pools, short lists, levelled odds."""
