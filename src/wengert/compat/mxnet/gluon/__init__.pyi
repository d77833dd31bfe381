"""What `wengert.compat.mxnet.gluon` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from wengert.compat.mxnet.gluon import data as data, loss as loss, nn as nn, rnn as rnn, utils as utils
from wengert.compat.mxnet.gluon.block import Block as Block, HybridBlock as HybridBlock
from wengert.compat.mxnet.gluon.parameter import Constant as Constant, DeferredInitializationError as DeferredInitializationError, Parameter as Parameter, ParameterDict as ParameterDict
from wengert.compat.mxnet.gluon.trainer import Trainer as Trainer


