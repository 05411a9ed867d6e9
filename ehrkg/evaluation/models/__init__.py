"""Language models that answer questions: named by a string or a function, asked through Inspect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from ehrkg.evaluation.models.generation import Generation
    from ehrkg.evaluation.models.named import AskedModel, model_named
    from ehrkg.evaluation.models.prompted import Prompted
    from ehrkg.evaluation.models.running import ask

_HOMES = {
    "AskedModel": "named",
    "Generation": "generation",
    "Prompted": "prompted",
    "ask": "running",
    "model_named": "named",
}

__all__ = ["AskedModel", "Generation", "Prompted", "ask", "model_named"]

__getattr__ = lazy_names(__name__, _HOMES)
