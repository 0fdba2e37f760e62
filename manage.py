#!/usr/bin/env python
"""Runs commands: `python manage.py help` lists them."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alignmenter_site.settings")
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
