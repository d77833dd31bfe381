"""A network of two layers, trained with a backward pass and a hand-written update.

64 examples with 1000 features each go through 100 hidden units to 10 outputs. The loss is the sum
of the squared errors. The data are random, so the network learns them by heart.

Note three things. The forward pass is ordinary arithmetic, from which `backward` computes the
gradients of both weight matrices. The updates run under `no_grad`: they change the weights, but are
not part of the function that is differentiated. And gradients add up, so the program clears them
before the next pass.
"""

import wengert as wg


def main(steps=300):
    wg.manual_seed(0)
    count, features, hidden, outputs = 64, 1000, 100, 10
    x, y = wg.randn(count, features), wg.randn(count, outputs)
    w1 = wg.randn(features, hidden, requires_grad=True)
    w2 = wg.randn(hidden, outputs, requires_grad=True)

    rate = 1e-6
    for step in range(steps):
        prediction = x.mm(w1).clamp(min=0).mm(w2)
        loss = (prediction - y).pow(2).sum()
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step:3}: loss {loss.item():14.4f}")

        loss.backward()
        with wg.no_grad():
            w1 -= rate * w1.grad
            w2 -= rate * w2.grad
            w1.grad.zero_()
            w2.grad.zero_()
    return loss.item()


if __name__ == "__main__":
    main()
