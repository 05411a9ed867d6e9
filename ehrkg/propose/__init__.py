"""Propose: visits in, candidate relations out."""

from __future__ import annotations

from ehrkg.propose.cooccurrence import Cooccurrence
from ehrkg.propose.proposer import Proposer
from ehrkg.propose.tasks import Task, choose_tasks, tasks

__all__ = ["Cooccurrence", "Proposer", "Task", "choose_tasks", "tasks"]
