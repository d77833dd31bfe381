"""Test typical programs of autograd: models that are fitted to data.

What they should give was computed with the original once; where it is installed they run with it,
too.
"""

import itertools

import numpy
import pytest
from scipy import optimize


def draw(seed):
    return numpy.random.RandomState(seed)


def logistic_regression(ag):
    np = ag.np
    inputs = np.array(
        [[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.3], [0.74, -2.5, 1.4]]
    )
    targets = np.array([True, True, False, True])

    def loss(weights):
        preds = 0.5 * (np.tanh(np.dot(inputs, weights)) + 1)
        label_probabilities = preds * targets + (1 - preds) * (1 - targets)
        return -np.sum(np.log(label_probabilities))

    gradient = ag.grad(loss)
    weights = np.zeros(3)
    for _ in range(50):
        weights = weights - 0.05 * gradient(weights)
    ag("test_util").check_grads(loss, modes=["rev"])(weights)
    return weights


def relu_network(ag):
    """A network whose parameters are a list of pairs, trained by Adam on batches."""
    np = ag.np
    adam = ag("misc.optimizers").adam
    flatten = ag("misc").flatten
    rs = draw(0)
    sizes = [4, 5, 3]
    params = [(0.5 * rs.randn(m, n), 0.5 * rs.randn(n)) for m, n in itertools.pairwise(sizes)]
    X, labels = rs.randn(12, 4), numpy.eye(3)[rs.randint(3, size=12)]

    def predict(params, inputs):
        for W, b in params:
            outputs = np.dot(inputs, W) + b
            inputs = np.maximum(0.1 * outputs, outputs)
        scores = outputs - np.max(outputs, axis=1, keepdims=True)
        return scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))

    def objective(params, i):
        rows = slice(4 * (i % 3), 4 * (i % 3) + 4)
        prior = 0.01 * np.sum(flatten(params)[0] ** 2)
        return prior - np.sum(predict(params, X[rows]) * labels[rows])

    losses = []
    fitted = adam(
        ag.grad(objective),
        params,
        step_size=0.05,
        num_iters=15,
        callback=lambda params, i, g: losses.append(objective(params, i)),
    )
    return np.append(np.array(losses[::5]), fitted[1][1])


def regression_network(ag):
    """One vector for all parameters, and a normal likelihood."""
    np = ag.np
    norm = ag("scipy.stats").norm
    rs = draw(1)
    x = numpy.linspace(-2, 2, 8)[:, None]
    y = numpy.cos(x) + 0.1 * rs.randn(8, 1)
    shapes = [((1, 4), (1, 4)), ((4, 1), (1, 1))]

    def unpacked(vector):
        start = 0
        for parts in shapes:
            made = []
            for m, n in parts:
                made.append(np.reshape(vector[start : start + m * n], (m, n)))
                start += m * n
            yield made

    def predict(vector, inputs):
        for W, b in unpacked(vector):
            outputs = np.dot(inputs, W) + b
            inputs = np.exp(-(outputs**2))
        return outputs

    def logprob(vector):
        prior = np.sum(norm.logpdf(vector, 0, 2.0))
        return prior + np.sum(norm.logpdf(predict(vector, x), y, 0.1))

    start = rs.randn(13)
    found = optimize.minimize(
        ag.value_and_grad(lambda v: -logprob(v)),
        start,
        jac=True,
        method="CG",
        options={"maxiter": 3},
    )
    return np.append(found.x[:4], ag.grad(logprob)(start)[:4])


def recurrent_network(ag):
    np = ag.np
    rs = draw(2)
    params = {
        "change": 0.5 * rs.randn(8, 5),
        "init": 0.1 * rs.randn(1, 5),
        "predict": rs.randn(6, 2),
    }
    inputs = rs.randn(6, 3, 2)

    def concat_and_multiply(weights, *args):
        return np.dot(np.hstack((*args, np.ones((args[0].shape[0], 1)))), weights)

    def predict(params):
        hidden = np.repeat(params["init"], 3, axis=0)
        outputs = []
        for x in inputs:
            hidden = np.tanh(concat_and_multiply(params["change"], x, hidden))
            scores = concat_and_multiply(params["predict"], hidden)
            outputs.append(scores - ag("scipy.special").logsumexp(scores, axis=1, keepdims=True))
        return outputs

    def loss(params):
        return -sum(np.sum(output[:, 0]) for output in predict(params)[:-1]) / 18

    gradient = ag.grad(loss)(params)
    return np.concatenate([gradient["init"][0], gradient["change"][0], gradient["predict"][0]])


def lstm(ag):
    np = ag.np
    rs = draw(3)
    names = ["change", "forget", "ingate", "outgate"]
    params = {name: 0.5 * rs.randn(7, 4) for name in names}
    params["cells"], params["predict"] = 0.1 * rs.randn(1, 4), rs.randn(5, 2)
    inputs = rs.randn(5, 2, 2)

    def sigmoid(x):
        return 0.5 * (np.tanh(x) + 1.0)

    def times(weights, *args):
        return np.dot(np.hstack((*args, np.ones((2, 1)))), weights)

    def loss(params):
        hiddens = np.zeros((2, 4))
        cells = np.repeat(params["cells"], 2, axis=0)
        total = 0.0
        for x in inputs:
            change = np.tanh(times(params["change"], x, hiddens))
            forget, ingate, outgate = (
                sigmoid(times(params[name], x, hiddens)) for name in names[1:]
            )
            cells = cells * forget + ingate * change
            hiddens = outgate * np.tanh(cells)
            total += np.sum(times(params["predict"], hiddens)[:, 1] ** 2)
        return total

    value, gradient = ag.value_and_grad(loss)(params)
    return np.append([value], [gradient[name].sum() for name in sorted(gradient)])


def convolutional_network(ag):
    np = ag.np
    convolve = ag("scipy.signal").convolve
    rs = draw(4)
    images = rs.randn(2, 1, 6, 6)
    filters, bias = 0.5 * rs.randn(1, 2, 3, 3), rs.randn(1, 2, 1, 1)
    weights = rs.randn(8, 3)

    def predict(params):
        filters, bias, weights = params
        conv = convolve(images, filters, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid")
        maps = conv + bias
        pooled = np.max(np.max(maps.reshape(2, 2, 2, 2, 2, 2), axis=3), axis=4)
        return np.dot(np.tanh(pooled).reshape(2, 8), weights)

    def loss(params):
        return np.sum(predict(params)[:, 1] ** 2)

    found = ag.grad(loss)((filters, bias, weights))
    return np.concatenate([found[0][0, 0, 0], found[1].ravel(), found[2][:3, 1]])


def gaussian_process(ag):
    np = ag.np
    rs = draw(5)
    X = rs.rand(7, 2)
    y = numpy.sin(6 * X[:, 0]) + 0.1 * rs.randn(7)
    mvn = ag("scipy.stats").multivariate_normal

    def covariance(params, x, xp):
        scale, lengths = np.exp(params[0]), np.exp(params[1:3])
        diffs = np.expand_dims(x / lengths, 1) - np.expand_dims(xp / lengths, 0)
        return scale * np.exp(-0.5 * np.sum(diffs**2, axis=2))

    def marginal(params):
        noise = np.exp(params[3])
        cov = covariance(params, X, X) + noise * np.eye(7)
        return mvn.logpdf(y, params[4] * np.ones(7), cov)

    def predict(params, at):
        k = covariance(params, X, X) + np.exp(params[3]) * np.eye(7)
        cross = covariance(params, X, at)
        return np.dot(cross.T, np.linalg.solve(k, y - params[4])) + params[4]

    params = np.array([0.1, -0.5, 0.3, -2.0, 0.2])
    found = optimize.minimize(
        ag.value_and_grad(lambda p: -marginal(p)), params, jac=True, options={"maxiter": 3}
    )
    slopes = ag.jacobian(predict, 1)(params, X[:1])
    return np.concatenate([found.x, ag.grad(marginal)(params), slopes.ravel()])


def deep_gaussian_process(ag):
    """Two layers: the first one's values at inducing points are parameters themselves."""
    np = ag.np
    rs = draw(6)
    X = np.linspace(0, 1, 5)[:, None]
    y = numpy.abs(X[:, 0] - 0.4)
    mvn = ag("scipy.stats").multivariate_normal

    def kernel(scale, x, xp):
        return np.exp(-0.5 * ((x - xp.T) / np.exp(scale)) ** 2)

    def layer(scale, at, values, x):
        cov = kernel(scale, at, at) + 0.01 * np.eye(3)
        cross = kernel(scale, x, at)
        mean = np.dot(cross, np.linalg.solve(cov, values))
        spread = np.diag(kernel(scale, x, x) - np.dot(cross, np.linalg.solve(cov, cross.T)))
        return mean[:, None], spread

    def loss(params):
        hidden, spread = layer(params["s1"], params["z"], params["u"], X)
        hidden = hidden + np.sqrt(np.abs(spread) + 0.1)[:, None] * rs_noise
        cov = kernel(params["s2"], hidden, hidden) + 0.1 * np.eye(5)
        return -mvn.logpdf(y, np.zeros(5), cov)

    rs_noise = rs.randn(5, 1)
    params = {"s1": -1.0, "s2": 0.2, "u": rs.randn(3), "z": rs.rand(3, 1)}
    found = ag.grad(loss)(params)
    return np.concatenate([[found["s1"], found["s2"]], found["u"], found["z"][:, 0]])


def ode_network(ag):
    np = ag.np
    odeint = ag("scipy.integrate").odeint
    atuple = ag("builtins").tuple
    rs = draw(7)
    params = (0.5 * rs.randn(2, 3), 0.5 * rs.randn(3, 2))
    times = np.linspace(0.0, 1.0, 4)
    truth = odeint(lambda y, t: numpy.dot(y**3, [[-0.1, 2.0], [-2.0, -0.1]]), [1.5, 0.0], times)

    def dynamics(y, t, first, second):
        return np.dot(np.tanh(np.dot(y**3, first)), second)

    def loss(params):
        found = odeint(dynamics, np.array([1.5, 0.0]), times, atuple(params))
        return np.mean(np.abs(found - truth))

    value, gradient = ag.value_and_grad(lambda first: loss((first, params[1])))(params[0])
    return np.append(value, gradient.ravel())


def generative_adversarial_network(ag):
    np = ag.np
    rs = draw(8)
    gen, dsc = [0.3 * rs.randn(2, 2), 0.3 * rs.randn(2)], [0.3 * rs.randn(2, 3), 0.3 * rs.randn(3)]
    data, seeds = rs.randn(6, 2) + 2.0, rs.rand(10, 6, 2)

    def generate(gen, noise):
        return np.dot(noise, gen[0]) + gen[1]

    def discriminate(dsc, points):
        return np.sum(np.tanh(np.dot(points, dsc[0]) + dsc[1]), axis=1)

    def objective(gen, dsc, i):
        logit_fake = discriminate(dsc, generate(gen, seeds[i]))
        logit_real = discriminate(dsc, data)
        return np.mean(-np.logaddexp(0, -logit_real)) - np.mean(np.logaddexp(0, logit_fake))

    both = ag.grad(objective, argnum=(0, 1))
    for i in range(10):
        g_gen, g_dsc = both(gen, dsc, i)
        gen = [p - 0.1 * g for p, g in zip(gen, g_gen, strict=True)]
        dsc = [p + 0.1 * g for p, g in zip(dsc, g_dsc, strict=True)]
    return np.concatenate([gen[0].ravel(), gen[1], dsc[1]])


# the first four numbers of each, and the sum of all
EXPECTED = {
    logistic_regression: [0.88792882, -0.27051288, 1.6131991, 2.230615],
    relu_network: [3.2766462, 4.8495751, 3.1930847, -0.85853111, 9.4592621],
    regression_network: [0.3814171, -0.4686434, 1.4412899, -2.0076582, -319.24759],
    recurrent_network: [-0.027109172, 0.011312855, 0.01905495, 0.012840646, -0.096883652],
    lstm: [0.49385192, 0.27479098, -0.36921542, 0.030233187, 1.2499238],
    convolutional_network: [-0.61336126, -0.31289516, -0.38740992, 0.96484604, -2.7401288],
    gaussian_process: [-0.93744553, -1.5514677, 2.343669, -5.3236916, -9.5396511],
    deep_gaussian_process: [-0.77812306, -1.2225054, 0.3357777, 0.065986037, -11.048138],
    ode_network: [1.2673033, 0.031355603, 0.10475139, -0.15707897, 1.2437771],
    generative_adversarial_network: [0.13690508, 0.39062402, -0.4920381, -0.36131467, -0.87882586],
}


@pytest.mark.parametrize("program", EXPECTED, ids=lambda program: program.__name__)
def test_model_gives_the_originals_numbers(ag, program):
    found = program(ag)
    shown = [*found[:4], found.sum()]
    numpy.testing.assert_allclose(shown, EXPECTED[program], rtol=2e-6, atol=1e-7)
