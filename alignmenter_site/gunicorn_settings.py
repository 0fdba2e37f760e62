"""How gunicorn stops and forks: ``--config python:alignmenter_site.gunicorn_settings``."""

import gc
import os
from typing import Any

# Requests that run longer are cut off. Less than the supervisor waits.
graceful_timeout = 8
# Proxies keep idle connections for up to two minutes. One that is closed here first can be closed just when a
# request comes, which then fails.
keepalive = 130


def pre_fork(server: Any, worker: Any) -> None:
    """The collector would write to all pages that were imported with --preload, and so copy them."""
    gc.freeze()


def worker_exit(server: Any, worker: Any) -> None:
    """Requests have been answered. To free each object takes seconds when the machine is busy."""
    # gunicorn's master calls this, too, and what failed to start has an exit code.
    if worker.booted and worker.pid == os.getpid():
        os._exit(0)
