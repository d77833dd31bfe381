"""Layer 5 · ops · losses: those in the package's main namespace, whose reduction is a number.

PyTorch's main namespace has them with the signatures of its C++ functions: a reduction is 1 for the
mean, 2 for the sum, and any other number, such as the default 0, for each loss by itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from wengert.base.errors import wrong_type
from wengert.base.export import export
from wengert.base.sections import named
from wengert.ops import ctc, distance_losses, likelihoods, losses, margin_losses


def _kind(parameter: inspect.Parameter) -> str:
    """The type of a parameter, for stubs."""
    if parameter.annotation != "Any":
        return str(parameter.annotation)
    if parameter.name.endswith("lengths"):
        return "Tensor | Sequence[int]"
    return "Tensor" if parameter.default is inspect.Parameter.empty else "Tensor | None"


def _numbered(loss: Callable[..., Any], parameters: str, arguments: str) -> Callable[..., Any]:
    name, known = loss.__name__, inspect.signature(loss).parameters
    order = [known[one].replace(annotation=_kind(known[one])) for one in parameters.split()]
    at = parameters.split().index("reduction")
    order[at] = order[at].replace(default=0, annotation="int")
    signature = inspect.Signature(order, return_annotation=Any)

    def function(*args: Any, **kwargs: Any) -> Any:
        """`nn.functional.{name}`, whose reduction is a number: 1 for the mean, 2 for the sum.

        Examples
        --------
        >>> x = wg.tensor([[0.5, 1.0]])
        >>> wg.{name}({arguments}, reduction=2).shape
        torch.Size([])
        """
        given = signature.bind(*args, **kwargs).arguments
        number = given.pop("reduction", 0)
        if type(number) is not int:
            raise wrong_type(name, "reduction", "int", number, at + 1)
        return loss(**given, reduction={1: "mean", 2: "sum"}.get(number, "none"))

    function.__signature__ = signature  # type: ignore[attr-defined]
    return named(function, name, arguments=arguments)


binary_cross_entropy_with_logits = _numbered(
    losses.binary_cross_entropy_with_logits, "input target weight pos_weight reduction", "x, x"
)
cosine_embedding_loss = _numbered(
    distance_losses.cosine_embedding_loss,
    "input1 input2 target margin reduction",
    "x, x, wg.ones(1)",
)
ctc_loss = _numbered(
    ctc.ctc_loss,
    "log_probs targets input_lengths target_lengths blank reduction zero_infinity",
    "x[None], wg.tensor([[1]]), [1], [1]",
)
hinge_embedding_loss = _numbered(
    margin_losses.hinge_embedding_loss, "input target margin reduction", "x, wg.ones(2)"
)
kl_div = _numbered(losses.kl_div, "input target reduction log_target", "x, x")
margin_ranking_loss = _numbered(
    margin_losses.margin_ranking_loss, "input1 input2 target margin reduction", "x, x, x"
)
poisson_nll_loss = _numbered(
    likelihoods.poisson_nll_loss, "input target log_input full eps reduction", "x, x"
)
triplet_margin_loss = _numbered(
    distance_losses.triplet_margin_loss,
    "anchor positive negative margin p eps swap reduction",
    "x, x, x",
)
export("wengert")(
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    ctc_loss,
    hinge_embedding_loss,
    kl_div,
    margin_ranking_loss,
    poisson_nll_loss,
    triplet_margin_loss,
)
