"""What all tests share: how properties are searched."""

from hypothesis import settings

# Never judged by the clock, as other work may run beside the tests; `--hypothesis-profile=search` looks further.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=3000)
settings.load_profile("repeatable")
