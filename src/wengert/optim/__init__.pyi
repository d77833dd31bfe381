"""What `wengert.optim` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from wengert.optim import lbfgs as lbfgs, lr_scheduler as lr_scheduler, optimizer as optimizer, swa_utils as swa_utils
from wengert.optim.adadelta import Adadelta as Adadelta
from wengert.optim.adafactor import Adafactor as Adafactor
from wengert.optim.adagrad import Adagrad as Adagrad
from wengert.optim.adam import Adam as Adam, AdamW as AdamW
from wengert.optim.adamax import Adamax as Adamax
from wengert.optim.asgd import ASGD as ASGD
from wengert.optim.lbfgs import LBFGS as LBFGS
from wengert.optim.muon import Muon as Muon
from wengert.optim.nadam import NAdam as NAdam
from wengert.optim.optimizer import Optimizer as Optimizer
from wengert.optim.radam import RAdam as RAdam
from wengert.optim.rmsprop import RMSprop as RMSprop
from wengert.optim.rprop import Rprop as Rprop
from wengert.optim.sgd import SGD as SGD
from wengert.optim.sparse_adam import SparseAdam as SparseAdam

__all__ = ['ASGD', 'Adadelta', 'Adafactor', 'Adagrad', 'Adam', 'AdamW', 'Adamax', 'LBFGS', 'Muon', 'NAdam', 'Optimizer', 'RAdam', 'RMSprop', 'Rprop', 'SGD', 'SparseAdam', 'lbfgs', 'lr_scheduler', 'optimizer', 'swa_utils']
