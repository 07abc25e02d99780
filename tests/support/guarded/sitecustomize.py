"""What Python imports by itself in each program that a test starts: nothing but the guard of what is removed."""

import removals

removals.guard()
