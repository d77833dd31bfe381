"""Layer 9 · compat: functions of functorch that were on trial."""

from wengert.func import functionalize as functionalize
from wengert.func import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
