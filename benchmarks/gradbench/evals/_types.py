"""What the evals have in common.

Each module of this package is named after an eval, and offers

* `arguments(input)`: the arguments of its functions from the eval's JSON object (or from one with
  arrays in place of lists);
* `objective` and `gradient`, ordinary functions of these arguments;
* `functions(compile)`: the functions that the eval asks for by name. `compile` is `wg.compile`, or
  leaves functions as they are;
* `answer(name, output)`, where the eval wants anything but plain numbers and lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Function = Callable[..., Any]
Compile = Callable[[Function], Function]
Functions = Mapping[str, Function]
