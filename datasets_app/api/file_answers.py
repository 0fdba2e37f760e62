"""Files as answers: whole, or the part that a download that broke off still lacks."""

import re
from collections.abc import Callable, Iterator
from typing import IO, Any

from django.http import FileResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header

from datasets_app.api.problems import ApiError

_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{0,18})")
_BLOCK_BYTES = 1 << 18


def answer_with_file(request: Any, stored: Any, open_file: Callable[[], IO[bytes]]) -> HttpResponseBase:
    """``stored`` is the row of the file; ``open_file`` is called, and may record it, only if some of it is
    sent."""
    size, etag = stored.size, f'"{stored.sha256}"'
    if answer := get_conditional_response(request, etag=etag):
        return answer
    wanted = _read_range(request, size, etag)
    file = open_file()
    response: HttpResponseBase
    if wanted is None:
        response = FileResponse(file, content_type="application/octet-stream")
        response["Content-Length"] = str(size)
    else:
        first, last = wanted
        response = StreamingHttpResponse(
            _read_part(file, first, last), content_type="application/octet-stream", status=206
        )
        response["Content-Range"] = f"bytes {first}-{last}/{size}"
        response["Content-Length"] = str(last - first + 1)
    response["ETag"], response["Accept-Ranges"] = etag, "bytes"
    response["Content-Disposition"] = content_disposition_header(True, stored.name) or "attachment"
    return response


def _read_range(request: Any, size: int, etag: str) -> tuple[int, int] | None:
    """First and last byte of the only range of the request; None for the whole file. Raises ApiError if
    the file ends before it."""
    match = _RANGE.fullmatch(request.headers.get("Range", ""))
    if match is None or request.headers.get("If-Range", etag) != etag:
        return None
    first, last = int(match[1]), min(int(match[2] or size - 1), size - 1)
    if first > last:
        raise ApiError(
            416, "range", "The file ends before this range.", headers={"Content-Range": f"bytes */{size}"}
        )
    return first, last


def _read_part(file: IO[bytes], first: int, last: int) -> Iterator[bytes]:
    with file:
        file.seek(first)
        left = last - first + 1
        while left and (block := file.read(min(_BLOCK_BYTES, left))):
            left -= len(block)
            yield block
