#!/usr/bin/env python
"""Runs commands: `python manage.py help` lists them."""

import gc
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alignmenter_site.settings")
    # What is imported stays: to look for garbage in it takes a fifth of the time to start.
    gc.set_threshold(50_000)
    # Work is divided among processes; threads make small matrix products slower.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:3] == ["run", "--supervise"]:
        from alignmenter_site import supervisor  # which imports nothing else

        sys.exit(supervisor.main(*sys.argv[3:]))
    from django.core.management import execute_from_command_line

    from alignmenter_site.embedded import EmbeddedServiceError

    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(130)
    except EmbeddedServiceError as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
