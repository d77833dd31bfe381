"""Test layers, losses and optimizers against Keras: values, dtypes, error types, optimizer steps.

Skipped where TensorFlow is not installed.
"""

import numpy as np
import pytest

theirs = pytest.importorskip("tensorflow")

import wengert.compat.tensorflow as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # TensorFlow's own
ARRAYS = {
    "Y": np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], np.float32),
    "P": np.array([[0.2, 0.7, 0.1], [0.5, 0.3, 0.2]], np.float32),
    "L": np.array([[1.0, 2.0, -1.0], [0.5, -0.5, 3.0]], np.float32),
    "C": np.array([1, 0]),
    "B": np.array([1.0, 0.0], np.float32),
    "Q": np.array([0.7, 0.4], np.float32),
    "M": np.arange(16.0, dtype=np.float32).reshape(1, 4, 4, 1),
}

VALUES = """
tf.keras.losses.mse(Y,P)
tf.keras.losses.hinge(Y,P)
tf.keras.losses.squared_hinge(Y*2-1,P)
tf.keras.losses.categorical_hinge(Y,P)
tf.keras.losses.huber(Y,P*4)
tf.keras.losses.huber(Y,P*4,delta=.5)
tf.keras.losses.kld(Y,P)
tf.keras.losses.logcosh(Y,P)
tf.keras.losses.poisson(Y,P)
tf.keras.losses.cosine_similarity(Y,P)
tf.keras.losses.binary_crossentropy(B,Q)
tf.keras.losses.binary_crossentropy(Y,L,from_logits=True)
tf.keras.losses.binary_crossentropy(Y,P,label_smoothing=.1)
tf.keras.losses.categorical_crossentropy(Y,P)
tf.keras.losses.categorical_crossentropy(Y,P*2)
tf.keras.losses.categorical_crossentropy(Y,L,from_logits=True,label_smoothing=.1)
tf.keras.losses.sparse_categorical_crossentropy(C,P)
tf.keras.losses.sparse_categorical_crossentropy(C[:,None],L,from_logits=True)
tf.keras.losses.sparse_categorical_crossentropy(C,L,from_logits=True,ignore_class=0)
tf.keras.losses.MeanSquaredError()(Y,P)
tf.keras.losses.MeanSquaredError(reduction='sum')(Y,P)
tf.keras.losses.MeanSquaredError(reduction='none')(Y,P)
tf.keras.losses.MeanSquaredError(reduction=None)(Y,P)
tf.keras.losses.MeanSquaredError()(Y,P,sample_weight=np.array([1.,2.]))
tf.keras.losses.MeanSquaredError(reduction='x')
tf.keras.losses.MeanAbsoluteError()(Y,P)
tf.keras.losses.BinaryCrossentropy()(B,Q)
tf.keras.losses.BinaryCrossentropy(from_logits=True)(Y,L)
tf.keras.losses.CategoricalCrossentropy()(Y,P)
tf.keras.losses.CategoricalCrossentropy(from_logits=True)(Y,L)
tf.keras.losses.SparseCategoricalCrossentropy()(C,P)
tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(C,L)
tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True,reduction='none')(C,L)
tf.keras.losses.SparseCategoricalCrossentropy(True)(C,L)
tf.keras.losses.Huber()(Y,P*4)
tf.keras.losses.Huber(.5)(Y,P*4)
tf.keras.losses.KLDivergence()(Y,P)
tf.keras.losses.CosineSimilarity()(Y,P)
tf.keras.losses.Hinge()(Y,P)
tf.keras.losses.LogCosh()(Y,P)
tf.keras.losses.Poisson()(Y,P)
tf.keras.losses.get('mse')(Y,P)
tf.keras.losses.get('nope')
tf.keras.metrics.Mean()([1.,3.])
tf.keras.metrics.Sum()([1.,3.])
tf.keras.metrics.Accuracy()([1,2,3],[1,2,4])
tf.keras.metrics.BinaryAccuracy()(B,Q)
tf.keras.metrics.BinaryAccuracy(threshold=.8)(B,Q)
tf.keras.metrics.CategoricalAccuracy()(Y,P)
tf.keras.metrics.SparseCategoricalAccuracy()(C,P)
tf.keras.metrics.SparseCategoricalAccuracy()(C[:,None],P)
tf.keras.metrics.TopKCategoricalAccuracy(k=2)(Y,P)
tf.keras.metrics.MeanSquaredError()(Y,P)
tf.keras.metrics.MeanAbsoluteError()(Y,P)
tf.keras.metrics.RootMeanSquaredError()(Y,P)
tf.keras.metrics.BinaryCrossentropy()(B,Q)
tf.keras.metrics.CategoricalCrossentropy()(Y,P)
tf.keras.metrics.SparseCategoricalCrossentropy(from_logits=True)(C,L)
tf.keras.metrics.KLDivergence()(Y,P)
tf.keras.metrics.Precision()(B,Q)
tf.keras.metrics.Recall()(B,Q)
tf.keras.metrics.CosineSimilarity()(Y,P)
tf.keras.metrics.BinaryAccuracy().name
tf.keras.metrics.MeanSquaredError().name
tf.keras.activations.relu(L)
tf.keras.activations.relu(L,negative_slope=.1,max_value=2.,threshold=.2)
tf.keras.activations.elu(L)
tf.keras.activations.elu(L,alpha=2.)
tf.keras.activations.selu(L)
tf.keras.activations.gelu(L)
tf.keras.activations.softmax(L)
tf.keras.activations.sigmoid(L)
tf.keras.activations.hard_sigmoid(L)
tf.keras.activations.mish(L)
tf.keras.activations.silu(L)
tf.keras.activations.leaky_relu(L)
tf.keras.activations.softplus(L)
tf.keras.activations.softsign(L)
tf.keras.activations.exponential(L)
tf.keras.activations.linear(L)
tf.keras.activations.log_softmax(L)
tf.keras.activations.get('nope')
tf.keras.regularizers.L1(.1)(L)
tf.keras.regularizers.L2(.1)(L)
tf.keras.regularizers.L1L2(.1,.2)(L)
tf.keras.optimizers.schedules.ExponentialDecay(.1,100,.9)(50)
tf.keras.optimizers.schedules.ExponentialDecay(.1,100,.9,staircase=True)(150)
tf.keras.optimizers.schedules.PiecewiseConstantDecay([10,20],[1.,.5,.1])(15)
tf.keras.optimizers.schedules.PolynomialDecay(.1,100,.01,power=2.)(30)
tf.keras.optimizers.schedules.InverseTimeDecay(.1,10,.5)(30)
tf.keras.optimizers.schedules.CosineDecay(.1,100,alpha=.1)(30)
tf.keras.optimizers.schedules.CosineDecay(0.,100,warmup_target=.1,warmup_steps=10)(5)
tf.keras.optimizers.schedules.CosineDecay(0.,100,warmup_target=.1,warmup_steps=10)(35)
tf.keras.layers.Flatten()(np.ones((2,3,4),np.float32))
tf.keras.layers.Rescaling(1/255.,.5)(np.arange(4.))
tf.keras.layers.Reshape((2,-1))(np.ones((3,6),np.float32)).shape
tf.keras.layers.Normalization(mean=3.,variance=2.)(np.arange(4.)[:,None])
tf.keras.layers.BatchNormalization()(P,training=True)
tf.keras.layers.BatchNormalization()(P)
tf.keras.layers.LayerNormalization()(P)
tf.keras.layers.Dropout(.5)(P)
tf.keras.layers.ReLU(max_value=.3)(P)
tf.keras.layers.LeakyReLU()(L)
tf.keras.layers.Softmax()(L)
tf.keras.layers.Add()([P,L])
tf.keras.layers.Concatenate()([P,L])
tf.keras.layers.Average()([P,L])
tf.keras.layers.Maximum()([P,L])
tf.keras.layers.Subtract()([P,L])
tf.keras.layers.Dense(2,kernel_initializer='ones')(P)
tf.keras.layers.Dense(2,kernel_initializer='ones',activation='relu',use_bias=False)(L)
tf.keras.layers.Dense(0)
tf.keras.layers.Conv2D(2,3,kernel_initializer='ones',padding='same')(M)
tf.keras.layers.Conv2D(2,2,strides=2,kernel_initializer='ones')(M)
tf.keras.layers.Conv2DTranspose(2,3,2,padding='same',kernel_initializer='ones')(M)
tf.keras.layers.Conv2DTranspose(2,3,2,kernel_initializer='ones')(M)
tf.keras.layers.Conv1D(2,3,kernel_initializer='ones')(np.ones((1,5,1),np.float32))
tf.keras.layers.MaxPooling2D()(M)
tf.keras.layers.AveragePooling2D(2,1,padding='same')(M)
tf.keras.layers.GlobalAveragePooling2D()(M)
tf.keras.layers.GlobalMaxPooling2D()(M)
tf.keras.layers.ZeroPadding2D(1)(np.ones((1,2,2,1),np.float32))
tf.keras.layers.Embedding(4,2,embeddings_initializer='ones')(np.array([1,2]))
tf.keras.utils.to_categorical([0,2,1])
tf.keras.utils.to_categorical([0,2,1],4)
tf.keras.utils.normalize(P)
tf.keras.backend.epsilon()
tf.keras.initializers.Constant(3.)((2,))
tf.keras.initializers.GlorotUniform()((2,3)).shape
tf.keras.initializers.get('nope')
tf.keras.optimizers.get('nope')
tf.keras.optimizers.SGD(.1,bogus=1)
tf.keras.optimizers.SGD(.1).learning_rate.numpy()
tf.keras.backend.all(L>0,axis=1)
tf.keras.backend.arange(4)
tf.keras.backend.arange(1,7,2,"float32")
tf.keras.backend.argmax(L)
tf.keras.backend.batch_dot(M[0,:,:2],M[0,:,:2])
tf.keras.backend.batch_dot(M[0],M[0],axes=2)
tf.keras.backend.batch_dot(M[0,:3],M[0,:3],axes=1)
tf.keras.backend.binary_crossentropy(Y,P)
tf.keras.backend.binary_crossentropy(Y,L,from_logits=True)
tf.keras.backend.categorical_crossentropy(Y,P)
tf.keras.backend.clip(tf.constant(L),None,.5)
tf.keras.backend.clip(tf.constant(L),.5,-.5)
tf.keras.backend.concatenate([tf.constant(L),tf.constant(P)])
tf.keras.backend.constant([1,2])
tf.keras.backend.cumsum(L)
tf.keras.backend.dot(tf.constant(M),tf.constant(L[:,:2].T.repeat(2,0)))
tf.keras.backend.dtype(tf.constant(L))
tf.keras.backend.elu(L,.5)
tf.keras.backend.expand_dims(L)
tf.keras.backend.flatten(L)
tf.keras.backend.gather(tf.constant(L),[1,0])
tf.keras.backend.hard_sigmoid(tf.constant(L))
tf.keras.backend.int_shape(tf.constant(L))
tf.keras.backend.l2_normalize(L,axis=1)
tf.keras.backend.mean(tf.constant(L),axis=-1,keepdims=True)
tf.keras.backend.mean(tf.constant(L>0))
tf.keras.backend.ndim(tf.constant(L))
tf.keras.backend.one_hot(C,3)
tf.keras.backend.permute_dimensions(L,(1,0))
tf.keras.backend.relu(L,alpha=.1,max_value=2.)
tf.keras.backend.repeat(tf.constant(L),2)
tf.keras.backend.softmax(tf.constant(L))
tf.keras.backend.sparse_categorical_crossentropy(C,P)
tf.keras.backend.sqrt(tf.constant(L))
tf.keras.backend.std(tf.constant(L),axis=0)
tf.keras.backend.switch(tf.constant(L>0),tf.constant(L),tf.constant(P))
tf.keras.backend.tile(L,(2,1))
tf.keras.backend.update_add(tf.keras.backend.variable([1.,2.]),[1.,1.])
tf.keras.backend.var(tf.constant(L))
tf.keras.backend.zeros((2,))
tf.keras.ops.argmax(L,axis=-1)
tf.keras.ops.argsort(L)
tf.keras.ops.nonzero(L)[0]
tf.keras.ops.sum(C)
tf.keras.ops.sum(L>0)
tf.keras.ops.mean(C)
tf.keras.ops.var(C)
tf.keras.ops.sqrt(C)
tf.keras.ops.cumsum(C)
tf.keras.ops.add(C,2)
tf.keras.ops.add(C,2.5)
tf.keras.ops.divide(C,2)
tf.keras.ops.power(C,.5)
tf.keras.ops.multiply(L,tf.constant(C)[0])
tf.keras.ops.maximum(C,1)
tf.keras.ops.matmul(tf.constant(L),tf.transpose(tf.constant(P)))
tf.keras.ops.concatenate([tf.constant(C),tf.constant([.5])])
tf.keras.ops.stack([L,P],axis=-1)
tf.keras.ops.split(L,[1],axis=1)[1]
tf.keras.ops.take_along_axis(L,C[:,None],axis=1)
tf.keras.ops.eye(2)
tf.keras.ops.full((2,),7)
tf.keras.ops.full((2,),7,dtype="int32")
tf.keras.ops.arange(3)
tf.keras.ops.arange(1,2,.25)
tf.keras.ops.norm(L,axis=1)
tf.keras.ops.solve(L[:,:2],L[:,2:])
tf.keras.ops.batch_normalization(L,tf.constant([0.,1.]),tf.constant([1.,2.]),0,offset=tf.constant([1.,1.]))
tf.keras.ops.one_hot(C,3)
tf.keras.ops.moments(tf.constant(L),axes=[0])[1]
tf.keras.ops.where(tf.constant(L)>0,1,0)
tf.keras.ops.where(tf.constant(L)>0,tf.constant(L),0.)
tf.keras.ops.where(tf.constant(L)>2)[0]
tf.keras.ops.size(L)
tf.keras.ops.top_k(tf.constant(L),2)[1]
tf.keras.ops.gelu(tf.constant(L))
tf.keras.ops.einsum("ij,kj->ik",L,P)
tf.keras.ops.sum([1,2])
tf.keras.ops.mean(np.ones(2))
""".strip().split("\n")

OPTIMIZERS = """
SGD(.1)
SGD(.1,momentum=.9)
SGD(.1,momentum=.9,nesterov=True)
SGD(.1,clipnorm=.5)
SGD(.1,clipvalue=.1)
SGD(.1,global_clipnorm=.5)
SGD(.1,weight_decay=.1)
Adam(.1)
Adam()
Adam(.1,amsgrad=True)
Adam(.1,.8,.9,epsilon=1e-3)
AdamW(.1)
RMSprop(.1)
RMSprop(.1,momentum=.5,centered=True)
Adagrad(.1)
Adadelta(.5)
Adamax(.1)
SGD(optimizers.schedules.ExponentialDecay(.1,2,.5))
""".strip().split("\n")


def run(tf, code):
    try:
        return eval(code, {"tf": tf, "np": np, **ARRAYS}), None
    except Exception as error:
        return None, error


@pytest.mark.parametrize("code", VALUES)
def test_values_and_errors_are_kerass(code):
    mine, error = run(ours, code)
    other, their_error = run(theirs, code)
    assert type(error).__name__ == type(their_error).__name__, f"{error!r}, {their_error!r}"
    if their_error is None and hasattr(other, "numpy"):
        a, b = np.asarray(mine.numpy()), np.asarray(other.numpy())
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    elif isinstance(other, np.ndarray):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=1e-5)
    elif their_error is None:
        assert mine == (tuple(other) if hasattr(other, "as_list") else other)


@pytest.mark.parametrize("code", OPTIMIZERS)
def test_optimizers_take_kerass_steps(code):
    ends = []
    for tf in (ours, theirs):
        space = {name: getattr(tf.keras.optimizers, name) for name in dir(tf.keras.optimizers)}
        optimizer = eval(code, {**space, "optimizers": tf.keras.optimizers})
        v, w = tf.Variable([1.0, -2.0, 3.0]), tf.Variable([[0.5]])
        for _ in range(6):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v**4) * 0.1 + tf.reduce_sum(w * v)
            slopes = tape.gradient(loss, [v, w])
            optimizer.apply_gradients(zip(slopes, [v, w], strict=True))
        assert int(optimizer.iterations.numpy()) == 6
        ends.append(np.concatenate([v.numpy(), w.numpy().ravel()]))
    np.testing.assert_allclose(*ends, rtol=2e-5, atol=1e-6)
