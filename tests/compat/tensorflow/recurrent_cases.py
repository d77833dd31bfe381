"""Programs of recurrent layers with TensorFlow 2.21's results: `python recurrent_cases.py`."""

import json
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).with_name("recurrent.json")


def set_weights(layer):
    rng = np.random.default_rng(5)
    layer.set_weights([rng.normal(size=w.shape).astype("f") * 0.5 for w in layer.get_weights()])


def layers_of(keras):
    layers = keras.layers
    return {
        "rnn": lambda **options: layers.SimpleRNN(2, **options),
        "lstm": lambda **options: layers.LSTM(2, **options),
        "lstm-relu": lambda **options: layers.LSTM(
            2, use_bias=False, activation="relu", recurrent_activation="hard_sigmoid", **options
        ),
        "gru": lambda **options: layers.GRU(2, **options),
        "gru-before": lambda **options: layers.GRU(2, reset_after=False, **options),
        "stacked": lambda **options: layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], **options),
    }


def cases(tf):
    """Names, and lists of arrays."""
    layers = tf.keras.layers
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 4, 3)).astype("f")
    mask = np.array([[1, 1, 0, 1], [0, 1, 1, 0]], bool)

    def flat(value):
        return [np.asarray(part) for part in tf.nest.flatten(list(value))]

    for name, make in layers_of(tf.keras).items():
        for options in (
            {"return_state": True},
            {"go_backwards": True, "return_sequences": True},
            {"return_sequences": True, "zero_output_for_mask": True},
        ):
            layer = make(**options)
            layer(x)
            set_weights(layer)
            place = tf.constant(x)
            with tf.GradientTape() as tape:
                tape.watch(place)
                result = layer(place)
                first = result[0] if isinstance(result, tuple | list) else result
                loss = tf.reduce_sum(first**2)
            slopes = tape.gradient(loss, [place, *layer.trainable_variables])
            label = f"{name} {sorted(options)}"
            yield label, flat(result if first is not result else [result])
            yield f"{label} slopes", [np.asarray(slope) for slope in slopes]
            yield f"{label} masked", flat([layer(x, mask=tf.constant(mask))])
    for mode in ("concat", "sum", "ave", "mul", None):
        layer = layers.Bidirectional(layers.LSTM(2, return_sequences=True), merge_mode=mode)
        layer(x)
        set_weights(layer)
        yield f"bidirectional {mode}", flat([layer(x), layer(x, mask=tf.constant(mask))])
    layer = layers.LSTM(2, stateful=True)
    layer(x)
    set_weights(layer)
    layer.reset_states()
    yield "stateful", flat([layer(x), layer(x)])
    model = tf.keras.Sequential(
        [
            layers.Embedding(5, 3, mask_zero=True),
            layers.GRU(2, return_sequences=True),
            layers.TimeDistributed(layers.Dense(1)),
        ]
    )
    numbers, targets = np.array([[1, 2, 0, 0], [3, 0, 4, 1]]), np.ones((2, 4, 1))
    model(numbers)
    set_weights(model)
    model.compile("sgd", "mse")
    yield "masked loss", [np.asarray(model.evaluate(numbers, targets, verbose=0))]
    model.fit(numbers, targets, verbose=0, epochs=2, shuffle=False)
    yield "masked fit", flat([model(numbers)])
    inputs = tf.keras.Input((None, 3))
    _, h, c = layers.LSTM(2, return_state=True)(layers.Masking()(inputs))
    outputs = layers.LSTM(2, return_sequences=True)(inputs, initial_state=[h, c])
    model = tf.keras.Model(inputs, outputs)
    set_weights(model)
    cut = x.copy()
    cut[0, 2:] = 0
    yield "encoder and decoder", flat([model(cut)])


if __name__ == "__main__":
    import tensorflow

    found = {name: [a.round(5).tolist() for a in arrays] for name, arrays in cases(tensorflow)}
    RECORDED.write_text(json.dumps(found, separators=(",", ":")) + "\n")
