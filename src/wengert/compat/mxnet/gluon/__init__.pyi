"""What `wengert.compat.mxnet.gluon` gives, for type checkers and editors.

Written by stubs/generate.py.
"""


from wengert.compat.mxnet.gluon.block import Block as Block
from wengert.compat.mxnet.gluon.parameter import Constant as Constant
from wengert.compat.mxnet.gluon.parameter import DeferredInitializationError as DeferredInitializationError
from wengert.compat.mxnet.gluon.block import HybridBlock as HybridBlock
from wengert.compat.mxnet.gluon.parameter import Parameter as Parameter
from wengert.compat.mxnet.gluon.parameter import ParameterDict as ParameterDict
from wengert.compat.mxnet.gluon.trainer import Trainer as Trainer
from wengert.compat.mxnet.gluon import data as data
from wengert.compat.mxnet.gluon import loss as loss
from wengert.compat.mxnet.gluon import nn as nn
from wengert.compat.mxnet.gluon import rnn as rnn
from wengert.compat.mxnet.gluon import utils as utils
