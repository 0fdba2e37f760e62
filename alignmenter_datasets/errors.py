"""What can go wrong, as sentences. None quotes text of conversations or a token."""

from typing import Any


class ClientError(Exception):
    """Of all errors of this package. The message is a sentence for people."""


class ServerUnreachable(ClientError):
    """No answer, after several attempts."""


class RequestRefused(ClientError):
    """The server's answer is an error. ``code`` is for programs, ``problem`` the whole answer (RFC 9457)."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        detail = str(problem.get("detail") or problem.get("title") or f"The server answered {status}.")
        fields = [
            f"{'.'.join(map(str, error.get('loc', ())))}: {error.get('msg', '')}"
            for error in problem.get("errors", ())
            if isinstance(error, dict)
        ]
        super().__init__(" ".join([detail, *fields]))
        self.status, self.problem = status, problem
        self.code = str(problem.get("code", ""))


class JobFailed(ClientError):
    """A job failed or was canceled; ``job`` is what the server says of it."""

    def __init__(self, job: dict[str, Any]) -> None:
        reason = job.get("error") or f"It is {job['state']}."
        super().__init__(f"Job {job['id']} ({job['operation']}): {reason}")
        self.job = job
