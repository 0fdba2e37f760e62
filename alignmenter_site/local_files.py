"""Files on the local disk. When it is full, Django leaves a partial file; we leave nothing."""

from contextlib import suppress
from typing import Any

from django.core.files.storage import FileSystemStorage
from django.core.files.uploadhandler import TemporaryFileUploadHandler


class LocalFiles(FileSystemStorage):
    def _save(self, name: str, content: Any) -> str:
        # Callers name files at random, so nobody else can have made this one meanwhile.
        is_new = not self.exists(name)
        try:
            return str(super()._save(name, content))
        except BaseException:
            if is_new:
                with suppress(OSError):
                    self.delete(name)
            raise


class UploadToDisk(TemporaryFileUploadHandler):
    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        try:
            super().receive_data_chunk(raw_data, start)
        except OSError:
            self._delete()
            raise

    def file_complete(self, file_size: int) -> Any:
        try:
            return super().file_complete(file_size)
        except OSError:
            self._delete()
            raise

    def _delete(self) -> None:
        # Closing a temporary file deletes it, but first tries once more to write what is left in its buffer.
        with suppress(OSError):
            self.file.close()
