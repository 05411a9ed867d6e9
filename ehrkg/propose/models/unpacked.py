"""GGUF weights, unpacked once: reading them takes most of a minute, what is kept seconds."""

from __future__ import annotations

import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

from ehrkg.foundation.storage import file_hash


def unpacked(weights: Path) -> Path:
    """The folder that holds GGUF weights in the format of transformers.

    It lies in the user's cache under the file's content, so the same weights are unpacked once a
    machine, whatever they are called. The folder appears by rename: a stop half-way leaves none.

    Args:
        weights: the GGUF file.

    Raises:
        OSError: it is not there, or the cache can't be written.
        ValueError, ImportError: transformers can't read it, or lacks what it needs for that.
    """
    from filelock import FileLock
    from platformdirs import user_cache_path

    cache = user_cache_path("ehrkg", ensure_exists=True) / "models"
    cache.mkdir(exist_ok=True)
    folder = cache / file_hash(weights)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            part = folder.with_name(f"{folder.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            _unpack(weights, part)
            part.replace(folder)
    return folder


def _unpack(weights: Path, folder: Path) -> None:
    import torch
    import transformers

    hf: Any = transformers  # its own types are not kept
    # Each of the three reads the whole file; given the config, the model does not read it again.
    place = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
    config = hf.AutoConfig.from_pretrained(**place)
    tokenizer = hf.PreTrainedTokenizerFast.from_pretrained(**place)
    # Newer versions leave weights packed unless told, and save no model that was read packed.
    packs = hasattr(hf, "GgufConfig")
    dense = {"quantization_config": hf.GgufConfig(dequantize=True)} if packs else {}
    read = hf.AutoModelForCausalLM.from_pretrained(**place, config=deepcopy(config), **dense)
    # Half precision keeps more than quantised weights hold, on half the disk.
    with torch.device("meta"):
        model = hf.AutoModelForCausalLM.from_config(config)
    model.load_state_dict(read.half().state_dict(), assign=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
