from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from alignmenter_site import env, supervisor
from alignmenter_site.embedded import EmbeddedServiceError
from alignmenter_site.embedded.client import held_locks


class Command(BaseCommand):
    help = "Prepare the database, then run the web server, two workers and the scheduler until Ctrl-C."

    def handle(self, **_: Any) -> None:
        try:
            address = supervisor.Address.from_environment()
            address.check_free()
            self.prepare()
        except (supervisor.SupervisorError, EmbeddedServiceError) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self.stderr.write("Stopped.")
            return
        connections.close_all()
        scratch = env.writable_directory(settings.VAR_DIR / "web")
        supervisor.become_supervisor(settings.BASE_DIR, scratch, held_locks())

    def prepare(self) -> None:
        self.stderr.write("Bringing the database up to date …")
        call_command("migrate", interactive=False, verbosity=0)
        # Before the data: part of it is given to the demonstration's annotator.
        call_command("demo_accounts", "--if-none")
        self.stderr.write("Loading the demonstration data, if the database is empty …")
        call_command("load_demo", "--if-empty")
