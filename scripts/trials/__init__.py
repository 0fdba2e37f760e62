"""What `make chaos`, `make load` and the run on several machines share: an installation of its own, people
and work on it, faults, and what must hold afterwards."""
