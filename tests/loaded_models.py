"""Imported by the server of ``preloaded.py``, so that its forks have the models of the rules in memory: each
would load them again for its first text."""

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber

Scrubber(Policy(), key=b"a key for nothing that is stored").scrub_text("I am Jane Roe, call 0151 64003691")
lazy_re.compile_waiting()
