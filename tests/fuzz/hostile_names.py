"""A model whose columns, values, classes and descriptions would like to be run."""

from __future__ import annotations

import pandas as pd

from smoothboost import Boolean, Categorical, Model, Numeric, Schema
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.rules import Literal, LiteralRule

SCRIPT = "<script>window.ran = 1</script>"
HANDLER = '" onmouseover="window.ran = 1'
STYLE = "</style></title></textarea><img src=x onerror='window.ran = 1'>"
TEMPLATE = "{{7*7}} {% raw %} ${7*7}"
DROP = "'; DROP TABLE people; --"
QUOTED = 'a"b\\'
BREAKS = "two\u2028lines"
REVERSED = "\u202eevil\u200f"
ESCAPE = "\x1b[31mred\x1b[0m\x07"
MARKUP = "[red]it[/red] [link=file:]:smile:"
NAMES = [SCRIPT, HANDLER, STYLE, TEMPLATE, DROP, QUOTED, BREAKS, REVERSED, ESCAPE, MARKUP]

SCHEMA = Schema(
    {
        **{name: Categorical([name, "b"], description=name) for name in NAMES},
        f"{SCRIPT}{QUOTED}": Numeric(low=0, high=4, bins=4, description=STYLE),
        f"{HANDLER}{MARKUP}": Boolean(description=HANDLER),
    },
    target=[DROP + SCRIPT, MARKUP + ESCAPE],
    target_description=STYLE,
)
RULES = tuple(LiteralRule(Literal.equals(at, 0), 1, 0) for at in range(len(SCHEMA.columns)))
MODEL = Model(
    SCHEMA, RULES, Guarantee(0.5, 0.0, 0.5, 1, 1000, "permute_and_flip", "tight", False, False)
)
FRAME = pd.DataFrame(
    [
        [*NAMES, 0.0, True],
        ["b"] * len(NAMES) + [4.0, False],
        [*NAMES[:6], *["another"] * 4, 2.0, None],
    ],
    columns=list(SCHEMA.columns),
)
