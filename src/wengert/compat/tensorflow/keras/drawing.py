"""Layer 9 · compat: models of inputs and outputs as configurations: layers, and calls of them."""

from __future__ import annotations

from typing import Any

from wengert.compat.tensorflow.configs import deserialize_keras_object, serialize_keras_object
from wengert.compat.tensorflow.keras.symbols import Symbol, _inner

__all__ = ["drawn", "redrawn"]


def _coded(value, places: dict[int, int]) -> Any:
    """Arguments with symbols by their numbers; JSON keeps what is a tuple."""
    if isinstance(value, Symbol):
        return {"symbol": places[id(value)]}
    if isinstance(value, list | tuple):
        name = "list" if isinstance(value, list) else "tuple"
        return {name: [_coded(part, places) for part in value]}
    if isinstance(value, dict):
        return {"dict": {key: _coded(part, places) for key, part in value.items()}}
    return {"value": serialize_keras_object(value)}


def _decoded(code: dict[str, Any], symbols: list[Any]) -> Any:
    ((name, held),) = code.items()
    if name == "symbol":
        return symbols[held]
    if name in ("list", "tuple"):
        parts = [_decoded(part, symbols) for part in held]
        return parts if name == "list" else tuple(parts)
    if name == "dict":
        return {key: _decoded(part, symbols) for key, part in held.items()}
    return deserialize_keras_object(held)


def drawn(model) -> dict[str, Any]:
    """The layers of a model, and which of them is called with what."""
    inputs = _inner(model._inputs)
    places = {id(symbol): number for number, symbol in enumerate(inputs)}
    layers: dict[int, tuple[int, Any]] = {}
    calls: dict[int, dict[str, Any]] = {}
    for symbol in model._order:
        layer, args, kwargs, place = symbol.origin
        number, _ = layers.setdefault(id(layer), (len(layers), layer))
        call = calls.setdefault(
            id(args),
            {
                "layer": number,
                "args": _coded(args, places),
                "kwargs": _coded(kwargs, places),
                "results": [],
            },
        )
        call["results"].append(place)
        places[id(symbol)] = len(places)
    return {
        "layers": [serialize_keras_object(layer) for _, layer in layers.values()],
        "inputs": [
            {"shape": list(one.shape), "dtype": one.dtype, "name": one.name} for one in inputs
        ],
        "nodes": list(calls.values()),
        "input_structure": _coded(model._inputs, places),
        "output_structure": _coded(model._outputs, places),
    }


def redrawn(config: dict[str, Any], custom_objects=None) -> tuple[Any, Any]:
    """Inputs and outputs, made by new layers."""
    layers = [deserialize_keras_object(layer, custom_objects) for layer in config["layers"]]
    symbols = [
        Symbol(tuple(one["shape"]), one["dtype"], None, one["name"]) for one in config["inputs"]
    ]
    for call in config["nodes"]:
        args, kwargs = (_decoded(call[key], symbols) for key in ("args", "kwargs"))
        result = layers[call["layer"]](*args, **kwargs)
        symbols += [result if place is None else result[place] for place in call["results"]]
    return (
        _decoded(config["input_structure"], symbols),
        _decoded(config["output_structure"], symbols),
    )
