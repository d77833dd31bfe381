"""Recorded results of user statements in MXNet 1.9.1, as a notebook shows them: ``recorded.json``.

With MXNet installed, ``python recorded.py`` records them again.
"""

import ast
import json
import pathlib

import numpy

PATH = pathlib.Path(__file__).with_name("recorded.json")


def outcomes(mx, program):
    """The statements of a program, each with what it shows or the name of its error."""
    namespace = {"mx": mx, "onp": numpy}
    for name in ("autograd", "np", "npx", "nd", "gluon", "init"):
        namespace[name] = getattr(mx, name)
    namespace["nn"] = mx.gluon.nn
    tree = ast.parse(program)
    for statement in tree.body:
        source = ast.get_source_segment(program, statement)
        try:
            if isinstance(statement, ast.Expr):
                code = compile(ast.Expression(statement.value), source, "eval")
                yield source, repr(eval(code, namespace))
            else:
                exec(compile(ast.Module([statement], []), source, "exec"), namespace)
                yield source, None
        except Exception as error:
            yield source, f"raises {type(error).__name__}"


def load():
    """The programs, by name: whether NumPy's arrays were chosen, and statements with outcomes."""
    return json.loads(PATH.read_text())


def main():
    """Record again, with the MXNet that is installed."""
    import mxnet

    programs = load()
    for program in programs.values():
        (mxnet.npx.set_np if program["numpy"] else mxnet.npx.reset_np)()
        text = "\n".join(statement for statement, _ in program["statements"])
        program["statements"] = list(outcomes(mxnet, text))
    PATH.write_text(json.dumps(programs, indent=1) + "\n")


if __name__ == "__main__":
    main()
