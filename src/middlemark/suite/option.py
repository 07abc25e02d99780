"""Options: the settings of a middleware that its worker describes, with the values a suite may give them.

Which options there are is each worker's knowledge; nothing here knows one.
"""

from typing import Annotated

from pydantic import BeforeValidator

from middlemark.suite.bounds import OptionName
from middlemark.suite.model import Many, refusal


def _check(written: object) -> object:
    if not isinstance(written, bool | int | str):
        raise refusal(f"`{written}` is no option's value", allowed="true, false, a whole number, or text")
    return written


NOT_SET = "none"
"""In a rule of `exclude`, the value of an option that an experiment leaves as it is."""
OptionValue = bool | int | str
AskedOptions = dict[OptionName, Many[Annotated[OptionValue, BeforeValidator(_check)]]]
"""Each option with one value, or with several that widen the matrix."""
