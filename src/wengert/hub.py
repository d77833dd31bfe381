"""Layer 9 · serialization: hub: models from a folder's ``hubconf.py``, under torch.hub's names.

Only local folders are read. Code is not downloaded: a library of arrays should not run unseen code.
Files of parameters can be downloaded; `load` reads them.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import re
import sys
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from wengert.base.names import defined, shows
from wengert.base.progress import Progress
from wengert.serialization.files import load as load_file

tqdm: Any = importlib.import_module("tqdm").tqdm if importlib.util.find_spec("tqdm") else None
"""Packages look for it here."""
_FOLDER: dict[str, str] = {}
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")


def get_dir() -> str:
    """Return the cache folder: ``$TORCH_HOME/hub``, or ``~/.cache/torch/hub``."""
    return _FOLDER.get("set") or str(Path(_get_torch_home()) / "hub")


def _get_torch_home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return str(Path(os.environ.get("TORCH_HOME", str(Path(cache) / "torch"))).expanduser())


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the cache folder."""
    _FOLDER["set"] = str(Path(d).expanduser())


def _module(folder: Any, source: str) -> Any:
    if source != "local":
        raise NotImplementedError(
            f"torch.hub is not offered with source={source!r}: code is not fetched from the "
            "network. Fetch the repository yourself, and name its folder with source='local'"
        )
    path = Path(folder) / "hubconf.py"
    spec = importlib.util.spec_from_file_location("hubconf", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


def _entry(module: Any, name: str) -> Any:
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


def list(github: Any, *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """List the names of the models in a folder."""
    names = vars(_module(github, source))
    return [name for name, value in names.items() if callable(value) and not name.startswith("_")]


def help(github: Any, model: str, *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """Return the docstring of a model."""
    return _entry(_module(github, source), model).__doc__


def load(
    repo_or_dir: Any,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Load a model from a folder.

    Parameters
    ----------
    repo_or_dir : str. The folder.
    model : str. The name of the function in its ``hubconf.py``.
    *args, **kwargs : The arguments of the function.
    source : {"local"}. The location of the folder.

    Raises
    ------
    NotImplementedError: For code that would have to be downloaded.
    """
    return _entry(_module(repo_or_dir, source), model)(*args, **kwargs)


def download_url_to_file(
    url: str, dst: Any, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Download a file.

    Parameters
    ----------
    url : str. Where it is.
    dst : str. The path to write to.
    hash_prefix : str, optional. The expected beginning of its SHA-256.
    progress : bool. Whether to show a progress bar on the standard error.

    Raises
    ------
    RuntimeError: If the hash differs; then no file is written.
    """
    path = Path(dst).expanduser()
    part = path.with_name(f"{path.name}.part")
    digest = hashlib.sha256()
    try:
        with (
            urllib.request.urlopen(url) as answer,
            part.open("wb") as file,
            Progress(int(answer.headers.get("Content-Length", 0)), progress, "byte") as bar,
        ):
            while block := answer.read(1 << 16):
                file.write(block)
                digest.update(block)
                bar.show(file.tell())
            bar.end()
        if hash_prefix and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(
                f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")'
            )
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Load the contents of a file that is downloaded once, and cached.

    Parameters
    ----------
    url : str. Where it is.
    model_dir : str, optional. The folder; default: ``checkpoints`` in that of `get_dir`.
    progress : bool. As for `download_url_to_file`.
    check_hash : bool. Whether to check the hash in the name of the file: ``name-<hash>.ext``.
    file_name : str, optional. The name of the local file.
    map_location, weights_only: Have no effect.
    """
    folder = Path(get_dir()) / "checkpoints" if model_dir is None else Path(model_dir)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (file_name or Path(urlparse(url).path).name)
    if not path.exists():
        found = HASH_REGEX.search(path.name) if check_hash else None
        download_url_to_file(url, path, found[1] if found else None, progress)
    return load_file(path)


__all__ = defined(globals())
__dir__ = shows(__all__)
