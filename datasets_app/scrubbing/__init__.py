"""Personal data out of datasets and files; corrections by reviewers, audit, canary."""
