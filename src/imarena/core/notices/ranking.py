"""Sentences of notices that the ranking room makes.

A wording takes the notice's values and the place where it is shown. Add the code here when you add a notice.
"""

from imarena.core.notices.notice import Wording

WORDS: dict[str, Wording] = {}
