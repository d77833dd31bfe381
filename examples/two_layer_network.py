"""A network of two layers, trained by a backward pass and a rule for updates, and nothing else.

64 examples with 1000 features each go through 100 hidden units to 10 outputs; the loss is the sum
of the squares of the errors. The data are random, so the network learns them by heart.

Three things are worth a look. The forward pass is ordinary arithmetic; `backward` computes the
gradients of the two weight matrices from it. The updates are made under `no_grad`: they change the
weights, and are not part of the function that is differentiated. And gradients are added to what is
there, so they are cleared before the next pass.
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
