"""Finds the process that listens on a port, so that a start that fails can name it."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import psutil

MAX_COMMAND_CHARACTERS = 80


class PortHolder(NamedTuple):
    pid: int
    command: str
    is_ours: bool

    def describe(self) -> str:
        """Who it is and, for an earlier start of this application, how to stop it."""
        if self.is_ours:
            return (
                f"by this application, which still runs as process {self.pid} ({self.command}). "
                f"Stop it: kill {self.pid}"
            )
        return f"by process {self.pid} ({self.command})"


def find_port_holder(port: int) -> PortHolder | None:
    """None if the system doesn't say who it is: it belongs to another account, or to another container."""
    import psutil  # only when a start has failed

    try:
        listening = [
            entry.pid
            for entry in psutil.net_connections("tcp")
            if entry.status == psutil.CONN_LISTEN and entry.laddr.port == port and entry.pid
        ]
        if not listening:
            return None
        process = psutil.Process(min(listening))
        for parent in process.parents():
            # Its supervisor would start the web server again.
            if "manage.py" in " ".join(parent.cmdline()) and "run" in parent.cmdline():
                return PortHolder(parent.pid, _shorten(parent), is_ours=True)
        return PortHolder(process.pid, _shorten(process), is_ours=_serves_application(process))
    except (psutil.Error, OSError):
        return None


def _serves_application(process: "psutil.Process") -> bool:
    return any("alignmenter_site" in word for word in process.cmdline())


def _shorten(process: "psutil.Process") -> str:
    command = " ".join(process.cmdline()) or process.name()
    return command if len(command) <= MAX_COMMAND_CHARACTERS else f"{command[:MAX_COMMAND_CHARACTERS]}…"
