"""Test typical programs of autograd: inference, simulation, small curiosities.

What they should give was computed with the original once; where it is installed they run with it,
too.
"""

import numpy
import pytest
from scipy import optimize


def draw(seed):
    return numpy.random.RandomState(seed)


def black_box_svi(ag):
    """A normal posterior, fitted by stochastic gradients of a lower bound."""
    np = ag.np
    norm, mvn = ag("scipy.stats").norm, ag("scipy.stats").multivariate_normal

    def log_posterior(x, t):
        mu, log_sigma = x[:, 0], x[:, 1]
        return norm.logpdf(log_sigma, 0, 1.35) + norm.logpdf(mu, 0, np.exp(log_sigma))

    def objective(params, t):
        mean, log_std = params[:2], params[2:]
        rs = draw(t)
        samples = rs.randn(20, 2) * np.exp(log_std) + mean
        entropy = 0.5 * 2 * (1.0 + np.log(2 * np.pi)) + np.sum(log_std)
        return -(entropy + np.mean(log_posterior(samples, t)))

    def diagonal(x, params):
        return mvn.logpdf(x, params[:2], np.diag(np.exp(2 * params[2:])))

    start = np.concatenate([-np.ones(2), -0.5 * np.ones(2)])
    adam = ag("misc.optimizers").adam
    found = adam(ag.grad(objective), start, step_size=0.1, num_iters=10)
    return np.append(found, ag.grad(diagonal, 1)(np.zeros(2), found))


def natural_gradient_svi(ag):
    """Gradients scaled by the inverse of the Fisher information, itself from a Hessian."""
    np = ag.np
    mvn = ag("scipy.stats").multivariate_normal

    def log_posterior(x):
        return -0.5 * np.sum((x[:, 0] ** 2 + x[:, 1] - 1.0) ** 2) / 4.0

    def objective(params, t):
        samples = draw(t).randn(5, 2) * np.exp(params[2:]) + params[:2]
        return -np.sum(params[2:]) - log_posterior(samples)

    def divergence(params, other):
        ratio = np.exp(2 * (params[2:] - other[2:]))
        away = ((params[:2] - other[:2]) / np.exp(other[2:])) ** 2
        return 0.5 * np.sum(ratio + away - 1.0) + np.sum(other[2:] - params[2:])

    params = np.array([0.3, -0.2, -0.5, -0.4])
    for t in range(4):
        fisher = ag.hessian(divergence)(params, params)
        step = np.linalg.solve(fisher, ag.grad(objective)(params, t))
        params = params - 0.05 * step
    return np.append(params, mvn.entropy(params[:2], np.eye(2)))


def mixture_inference(ag):
    np = ag.np
    norm = ag("scipy.stats").norm
    logsumexp = ag("scipy.special").logsumexp

    def diag_gaussian(x, mean, log_std):
        return np.sum(norm.logpdf(x, mean, np.exp(log_std)), axis=-1)

    def mixture(params, x):
        log_weights, means, log_stds = params
        log_weights = log_weights - logsumexp(log_weights)
        parts = [diag_gaussian(x, means[k], log_stds[k]) for k in range(3)]
        return logsumexp(
            np.vstack([w + p for w, p in zip(log_weights, parts, strict=True)]), axis=0
        )

    def bound(params, t):
        rs = draw(t)
        total = 0.0
        weights = np.exp(params[0] - logsumexp(params[0]))
        for k in range(3):
            samples = params[1][k] + np.exp(params[2][k]) * rs.randn(4, 2)
            target = norm.logpdf(samples[:, 0], 0, 1.3) + norm.logpdf(samples[:, 1], 1.0, 0.5)
            total = total + weights[k] * np.mean(target - mixture(params, samples))
        return -total

    rs = draw(0)
    params = (np.zeros(3), rs.randn(3, 2), -np.ones((3, 2)))
    value, found = ag.value_and_grad(bound)(params, 1)
    return np.concatenate([[value], found[0], found[1].ravel(), found[2].ravel()])


def bayesian_network(ag):
    """Samples of the weights of a network, handled as a batch by einsum."""
    np = ag.np
    rs = draw(2)
    x, y = numpy.linspace(-1, 1, 5)[:, None], numpy.linspace(0, 1, 5)[:, None]
    noise = rs.randn(3, 10)

    def predictions(weights, inputs):
        first = np.reshape(weights[:, :3], (3, 1, 3))
        second = np.reshape(weights[:, 3:6], (3, 3, 1))
        hidden = np.einsum("nd,mde->mne", inputs, first) + np.expand_dims(weights[:, 6:9], 1)
        outputs = np.einsum("mnd,mde->mne", np.tanh(hidden), second)
        return outputs + np.expand_dims(weights[:, 9:], 1)

    def objective(params):
        mean, log_std = params
        weights = noise * np.exp(log_std) + mean
        prior = -0.1 * np.sum(weights**2, axis=1)
        fit = -np.sum((predictions(weights, x) - y) ** 2, axis=1)[:, 0] / 0.1
        return -np.mean(prior + fit) - np.sum(log_std)

    g_mean, g_std = ag.grad(objective)((rs.randn(10), -2 * np.ones(10)))
    return np.concatenate([g_mean, g_std])


def variational_autoencoder(ag):
    np = ag.np
    expit = ag("scipy.special").expit
    rs = draw(3)
    data = rs.rand(6, 4) > 0.5

    def layers(params, inputs):
        for W, b in params:
            outputs = np.dot(inputs, W) + b
            inputs = np.tanh(outputs)
        return outputs

    def made(sizes):
        return [(0.4 * rs.randn(m, n), 0.1 * rs.randn(n)) for m, n in sizes]

    def bound(params, i):
        encoder, decoder = params
        found = layers(encoder, data)
        mean, log_std = found[:, :2], found[:, 2:]
        latents = mean + np.exp(log_std) * draw(i).randn(6, 2)
        logits = layers(decoder, latents)
        fit = -np.sum(np.logaddexp(0, -logits * (2 * data - 1)))
        divergence = 0.5 * np.sum(mean**2 + np.exp(2 * log_std) - 2 * log_std - 1)
        return divergence - fit

    params = (made([(4, 3), (3, 4)]), made([(2, 3), (3, 4)]))
    adam = ag("misc.optimizers").adam
    fitted = adam(ag.grad(bound), params, step_size=0.02, num_iters=5)
    assert np.all(expit(layers(fitted[1], np.zeros((1, 2)))) < 1)
    return np.concatenate([fitted[0][0][0][0], fitted[0][1][1], fitted[1][1][1]])


def gaussian_mixture(ag):
    """Newton's method with Hessian-vector products, over a flattened dict."""
    np = ag.np
    logsumexp = ag("scipy.special").logsumexp
    mvn = ag("scipy.stats").multivariate_normal
    flatten_func = ag("misc.flatten").flatten_func
    rs = draw(4)
    data = np.concatenate([rs.randn(5, 2), rs.randn(5, 2) + 3.0])
    params = {
        "log proportions": 0.1 * rs.randn(2),
        "means": rs.randn(2, 2),
        "lower triangles": np.zeros((2, 2, 2)) + np.eye(2),
    }

    def log_likelihood(params):
        props = params["log proportions"] - logsumexp(params["log proportions"])
        parts = []
        for prop, mean, chol in zip(props, params["means"], params["lower triangles"], strict=True):
            parts.append(mvn.logpdf(data, mean, np.dot(chol, chol.T)) + prop)
        return np.sum(logsumexp(np.vstack(parts), axis=0))

    objective, unflatten, start = flatten_func(lambda p: -log_likelihood(p), params)
    product = ag.hessian_vector_product(objective)
    found = optimize.minimize(
        objective,
        start,
        jac=ag.grad(objective),
        hessp=product,
        method="trust-ncg",
        options={"maxiter": 3, "initial_trust_radius": 0.1},
    )
    fitted = unflatten(found.x)
    return np.concatenate([fitted["means"].ravel(), product(start, np.ones(len(start)))])


def hidden_markov(ag):
    """Expected statistics of a hidden Markov model as the gradient of its log normalizer."""
    np = ag.np
    logsumexp = ag("scipy.special").logsumexp
    rs = draw(5)
    observed = [0, 2, 1, 1, 0, 2]

    def normalizer(pi, A, B):
        log_pi = pi - logsumexp(pi)
        log_A = A - logsumexp(A, axis=1, keepdims=True)
        log_B = B - logsumexp(B, axis=1, keepdims=True)
        log_alpha = log_pi
        for y in observed:
            log_alpha = logsumexp(log_alpha[:, None] + log_A, axis=0) + log_B[:, y]
        return logsumexp(log_alpha)

    pi, A, B = rs.randn(2), rs.randn(2, 2), rs.randn(2, 3)
    trail = []
    for _ in range(3):
        value, statistics = ag.value_and_grad(lambda p: normalizer(*p))((pi, A, B))
        pi, A, B = (p + 0.5 * s for p, s in zip((pi, A, B), statistics, strict=True))
        trail.append(value)
    return np.concatenate([trail, pi, A.ravel(), B.ravel()])


def independent_components(ag):
    np = ag.np
    rs = draw(6)
    logcosh, standard_t = (lambda x: -np.logaddexp(x, -x)), ag("scipy.stats").t
    data = np.dot(rs.standard_t(3.0, size=(8, 2)), np.array([[1.0, 0.4], [-0.3, 1.2]]))

    def objective(weights):
        sources = np.dot(data, weights)
        prior = np.sum(standard_t.logpdf(sources, 3.0)) + 0.1 * np.sum(logcosh(sources))
        return prior + len(data) * np.linalg.slogdet(weights)[1]

    weights = np.eye(2)
    for _ in range(5):
        weights = weights + 0.02 * ag.grad(objective)(weights)
    return weights.ravel()


def fluid(ag):
    """A picture is moved by a flow, and the flow that moves it best is looked for."""
    np = ag.np
    rs = draw(7)

    def project(vx, vy):
        p = np.zeros(vx.shape)
        div = -0.5 * (np.roll(vx, -1, axis=1) - np.roll(vx, 1, axis=1))
        div = div - 0.5 * (np.roll(vy, -1, axis=0) - np.roll(vy, 1, axis=0))
        for _ in range(4):
            around = np.roll(p, 1, axis=1) + np.roll(p, -1, axis=1)
            around = around + np.roll(p, 1, axis=0) + np.roll(p, -1, axis=0)
            p = (div + around) / 4.0
        vx = vx - 0.5 * (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1))
        return vx, vy - 0.5 * (np.roll(p, -1, axis=0) - np.roll(p, 1, axis=0))

    def advect(f, vx, vy):
        rows, cols = f.shape
        ys, xs = np.meshgrid(np.arange(rows), np.arange(cols))
        from_x, from_y = (xs - vx).ravel(), (ys - vy).ravel()
        left, top = np.floor(from_x).astype(int), np.floor(from_y).astype(int)
        rw, bw = from_x - left, from_y - top
        left, right = np.mod(left, rows), np.mod(left + 1, rows)
        top, bottom = np.mod(top, cols), np.mod(top + 1, cols)
        flat = (1 - rw) * ((1 - bw) * f[left, top] + bw * f[left, bottom])
        flat = flat + rw * ((1 - bw) * f[right, top] + bw * f[right, bottom])
        return np.reshape(flat, (rows, cols))

    smoke, target = rs.rand(4, 4), rs.rand(4, 4)

    def loss(params):
        vx, vy = np.reshape(params[:16], (4, 4)), np.reshape(params[16:], (4, 4))
        image = smoke
        for _ in range(2):
            vx, vy = project(advect(vx, vx, vy), advect(vy, vx, vy))
            image = advect(image, vx, vy)
        return np.mean((target - image) ** 2)

    value, gradient = ag.value_and_grad(loss)(0.3 * rs.randn(32))
    return np.append(value, gradient)


def wing(ag):
    """Occlusion by a shape that is itself what is optimised: `where`, `clip`-like sigmoids."""
    np = ag.np

    def occlude(f, occlusion):
        return f * (1 - occlusion)

    def lift(params):
        occlusion = 0.5 * (np.tanh(np.reshape(params, (4, 4))) + 1.0)
        vx, vy = np.ones((4, 4)), np.zeros((4, 4))
        for _ in range(3):
            vx, vy = occlude(np.roll(vx, 1, axis=1), occlusion), occlude(vy, occlusion)
            vy = vy + 0.2 * (np.roll(vx, 1, axis=0) - vx)
        return np.mean(vy) / (1e-3 + np.mean(1.0 - vx))

    start = draw(8).randn(16)
    found = optimize.minimize(
        ag.value_and_grad(lambda p: -lift(p)),
        start,
        jac=True,
        method="BFGS",
        options={"maxiter": 2},
    )
    return np.append(found.fun, ag.grad(lift)(start))


def rosenbrock(ag):
    np = ag.np

    def f(x):
        return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2

    trail = []
    found = optimize.minimize(
        ag.value_and_grad(f), np.array([-1.0, 1.2]), jac=True, method="CG", callback=trail.append
    )
    newton = optimize.minimize(
        f, np.array([-1.0, 1.2]), jac=ag.grad(f), hess=ag.hessian(f), method="Newton-CG"
    )
    return np.concatenate([found.x, newton.x, trail[0]])


def sinusoid(ag):
    """Derivatives of a sum of a Taylor series that ends when its terms are small."""
    np = ag.np

    def taylor_sine(x):
        total = term = x
        i = 0
        while np.abs(term) > 1e-12:
            i += 1
            term = -term * x * x / ((2 * i + 1) * (2 * i))
            total = total + term
        return total

    d = ag.grad(taylor_sine)
    dd = ag.grad(d)
    return np.array([[taylor_sine(x), d(x), dd(x), ag.grad(dd)(x)] for x in (0.3, 2.0)]).ravel()


def tanh(ag):
    np = ag.np
    egrad = ag.elementwise_grad

    def own(x):
        return (1.0 - np.exp(-2 * x)) / (1.0 + np.exp(-2 * x))

    x = np.linspace(-3, 3, 5)
    f = own
    rows = []
    for _ in range(6):
        rows.append(f(x))
        f = egrad(f)
    return np.concatenate(rows)


def square_root(ag):
    """Newton's iteration for a root, differentiated at its fixed point."""
    np = ag.np
    fixed_point = ag("misc.fixed_points").fixed_point

    def step(a):
        return lambda x: 0.5 * (x + a / x)

    def root(a, guess=10.0):
        return fixed_point(step, a, guess, lambda x, y: np.abs(x - y), 1e-12)

    return np.array([root(2.0), ag.grad(root)(2.0), ag.grad(ag.grad(root))(2.0)])


# the first four numbers of each, and the sum of all
EXPECTED = {
    black_box_svi: [-0.15981267, -0.24349166, -0.93779571, -1.0551939, -0.68855718],
    natural_gradient_svi: [0.30722737, -0.11896059, -0.43787222, -0.39579227, 2.1924794],
    mixture_inference: [4.1074572, -0.47972659, -0.86781874, 1.3475453, 1.6457475],
    bayesian_network: [-6.3581679, -4.7464112, -10.784272, 15.658285, -19.598677],
    variational_autoencoder: [0.64484403, 0.18467218, -0.33156762, 0.062177334, 0.65856813],
    gaussian_mixture: [0.10418553, -1.1055843, 2.2630194, 0.65803427, 626.82448],
    hidden_markov: [-7.1502413, -6.6803869, -6.6301036, 0.40500516, -19.520381],
    independent_components: [0.77528186, -0.24438096, -0.33702988, 0.93766723, 1.1315383],
    fluid: [0.08879553, 0.0087294358, 0.0073847171, 0.0040362825, 0.15554789],
    wing: [0.030089398, -0.012161254, 0.0020642104, 0.0013260223, 0.061283964],
    rosenbrock: [1.0000001, 1.0000003, 0.9999999, 0.99999981, 4.1057352],
    sinusoid: [0.29552021, 0.95533649, -0.29552021, -0.95533649, -1.2000401e-12],
    tanh: [-0.99505475, -0.90514825, 0.0, 0.90514825, 16.166951],
    square_root: [1.4142136, 0.35355339, -0.088388348, 1.6793786],
}


@pytest.mark.parametrize("program", EXPECTED, ids=lambda program: program.__name__)
def test_program_gives_the_originals_numbers(ag, program):
    found = program(ag)
    shown = [*found[:4], found.sum()]
    numpy.testing.assert_allclose(shown, EXPECTED[program], rtol=2e-6, atol=1e-7)
