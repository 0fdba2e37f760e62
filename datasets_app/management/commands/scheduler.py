import logging
import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError, InterfaceError, connection

from alignmenter_site.embedded import EmbeddedServiceError
from alignmenter_site.logs import describe_error
from datasets_app import hooks
from datasets_app.auditing.heads import record_due_heads
from datasets_app.dispatch.dispatch_events import delete_old_events, dispatch_events
from datasets_app.housekeeping import delete_expired_files
from datasets_app.jobs import queue, recovery
from datasets_app.nightly.run_nightly import start_if_due
from datasets_app.sources.due import start_due_assembly, start_due_storing

log = logging.getLogger(__name__)

STEP_SECONDS = 3.0
STEPS_BETWEEN_CLEANUPS = 1200  # about an hour
STEPS_BETWEEN_NIGHT_CHECKS = 20  # about a minute


class Command(BaseCommand):
    help = (
        "Take care of what must happen by itself: jobs whose worker is gone are queued again, "
        "heads of the audit log are recorded outside the database, and events are handed on to webhooks "
        "and people (every 3 seconds), received traces "
        "are imported once they are complete (every 15 minutes), files past their date are deleted (every "
        "hour), and a worker is given the night's work: retention, warnings, pulls from sources, "
        "verification (once a day at ALIGNMENTER_NIGHT_HOUR)."
    )
    requires_system_checks = ()  # `run`, `migrate` and `make check` look at the whole

    def handle(self, **_: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        step, reachable = 0, True
        while not stop.wait(STEP_SECONDS if step else 0):
            try:
                recovery.recover_jobs()
                record_due_heads()
                dispatch_events()
                if step % STEPS_BETWEEN_CLEANUPS == 0:
                    delete_expired_files()
                    delete_old_events()
                if step % STEPS_BETWEEN_NIGHT_CHECKS == 0:
                    start_if_due()
                    start_due_storing()
                    start_due_assembly()
                    hooks.panels.announce_campaigns()
                # Not if it can't work: then it isn't alive in the sense of those who ask.
                queue.record_scheduler_heartbeat()
                reachable = True
            except (DatabaseError, InterfaceError, EmbeddedServiceError):
                connection.close()
                if reachable:
                    self.stderr.write("The database can't be reached; trying on.")
                reachable = False
            except Exception as error:  # such as a file storage that is away: the next step may succeed
                log.error("a step of the scheduler failed: %s", describe_error(error))
            step += 1
