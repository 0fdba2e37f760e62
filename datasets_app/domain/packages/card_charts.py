"""Draws the charts of a dataset's card as standalone SVG files for light and dark mode.

Every bar shows its number.
"""

from collections.abc import Sequence
from xml.sax.saxutils import escape

WIDTH = 720
_LEFT_MARGIN, _RIGHT_MARGIN, _HEADER_HEIGHT, _ROW_HEIGHT = 190, 110, 44, 26
_COLUMN_CHART_HEIGHT, _FOOTER_HEIGHT = 260, 46
MAX_BARS = 20
_MAX_LABEL_CHARACTERS = 22
_STYLE = (
    "<style>"
    "text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2937}"
    ".title{font-size:15px;font-weight:600}.n{fill:#4b5563}"
    ".back{fill:#fff;stroke:#d1d5db}.bar{fill:#4f46e5}.other{fill:#d97706}.line{stroke:#9ca3af}"
    "@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.n{fill:#9ca3af}"
    ".back{fill:#111827;stroke:#374151}.bar{fill:#818cf8}.other{fill:#fbbf24}.line{stroke:#6b7280}}"
    "</style>"
)

Bars = Sequence[tuple[str, int]]


def draw_bar_chart(title: str, bars: Bars) -> str:
    """A bar chart of counts by name, largest first; the smallest are combined into one bar."""
    ordered = sorted(bars, key=lambda bar: (-bar[1], bar[0]))
    shown = list(ordered[:MAX_BARS])
    if rest := ordered[MAX_BARS:]:
        shown.append((f"{len(rest):,} others", sum(count for _, count in rest)))
    total = max(sum(count for _, count in bars), 1)
    most = max((count for _, count in shown), default=1) or 1
    room = WIDTH - _LEFT_MARGIN - _RIGHT_MARGIN
    drawn = []
    for number, (name, count) in enumerate(shown):
        down = _HEADER_HEIGHT + number * _ROW_HEIGHT
        drawn.append(_draw_text(_LEFT_MARGIN - 10, down + 17, _clip_label(name), anchor="end"))
        drawn.append(
            f'<rect class="bar" x="{_LEFT_MARGIN}" y="{down + 4}" '
            f'width="{_scale_length(count, most, room)}" height="18"/>'
        )
        beside = f"{count:,} · {_format_percent(count, total)}"
        drawn.append(
            _draw_text(_LEFT_MARGIN + _scale_length(count, most, room) + 8, down + 17, beside, kind="n")
        )
    return _wrap_drawing(title, _HEADER_HEIGHT + len(shown) * _ROW_HEIGHT + 14, drawn)


def draw_column_chart(title: str, columns: Bars, *, axis_label: str) -> str:
    """A histogram: columns in the given order, above ``axis_label``."""
    most = max((count for _, count in columns), default=1) or 1
    floor = _COLUMN_CHART_HEIGHT - _FOOTER_HEIGHT
    step = (WIDTH - 40) / max(len(columns), 1)
    drawn = []
    for number, (name, count) in enumerate(columns):
        height = _scale_length(count, most, floor - _HEADER_HEIGHT - 20)
        left = round(20 + number * step + step * 0.1, 1)
        middle = round(20 + (number + 0.5) * step, 1)
        drawn.append(
            f'<rect class="bar" x="{left}" y="{round(floor - height, 1)}" width="{round(step * 0.8, 1)}" '
            f'height="{height}"/>'
        )
        drawn.append(
            _draw_text(middle, round(floor - height - 6, 1), f"{count:,}", kind="n", anchor="middle")
        )
        drawn.append(_draw_text(middle, floor + 17, name, anchor="middle"))
    drawn.append(f'<line class="line" x1="20" x2="{WIDTH - 20}" y1="{floor}" y2="{floor}"/>')
    drawn.append(_draw_text(WIDTH / 2, _COLUMN_CHART_HEIGHT - 8, axis_label, kind="n", anchor="middle"))
    return _wrap_drawing(title, _COLUMN_CHART_HEIGHT, drawn)


def draw_balance_chart(title: str, rows: Sequence[tuple[str, int, int]]) -> str:
    """A stacked bar for each name: off-brand on the left, on-brand on the right."""
    room = WIDTH - _LEFT_MARGIN - 20
    drawn = []
    for number, (name, off, on) in enumerate(rows[:MAX_BARS]):
        down = _HEADER_HEIGHT + number * 2 * _ROW_HEIGHT
        split = _scale_length(off, max(off + on, 1), room)
        drawn.append(_draw_text(_LEFT_MARGIN - 10, down + 17, _clip_label(name), anchor="end"))
        drawn.append(f'<rect class="other" x="{_LEFT_MARGIN}" y="{down + 4}" width="{split}" height="18"/>')
        drawn.append(
            f'<rect class="bar" x="{_LEFT_MARGIN + split}" y="{down + 4}" width="{round(room - split, 1)}" '
            'height="18"/>'
        )
        total = max(off + on, 1)
        drawn.append(
            _draw_text(
                _LEFT_MARGIN, down + 38, f"off-brand {off:,} · {_format_percent(off, total)}", kind="n"
            )
        )
        drawn.append(
            _draw_text(
                _LEFT_MARGIN + room,
                down + 38,
                f"on-brand {on:,} · {_format_percent(on, total)}",
                kind="n",
                anchor="end",
            )
        )
    return _wrap_drawing(title, _HEADER_HEIGHT + min(len(rows), MAX_BARS) * 2 * _ROW_HEIGHT + 10, drawn)


def draw_interval_chart(
    title: str, rows: Sequence[tuple[str, float | None, float | None, float | None, str]]
) -> str:
    """Numbers from -1 to 1 as points with their intervals, or the reason why there is none."""
    room = WIDTH - _LEFT_MARGIN - _RIGHT_MARGIN

    def across(value: float) -> float:
        return round(_LEFT_MARGIN + room * (max(-1.0, min(1.0, value)) + 1) / 2, 1)

    foot = _HEADER_HEIGHT + len(rows) * _ROW_HEIGHT
    drawn = []
    for mark in (-1.0, 0.0, 1.0):
        at = across(mark)
        drawn.append(f'<line class="line" x1="{at}" x2="{at}" y1="{_HEADER_HEIGHT}" y2="{foot}"/>')
        drawn.append(_draw_text(at, foot + 16, f"{mark:g}", kind="n", anchor="middle"))
    for number, (name, value, low, high, why) in enumerate(rows):
        down = _HEADER_HEIGHT + number * _ROW_HEIGHT + 13
        drawn.append(_draw_text(_LEFT_MARGIN - 10, down + 4, _clip_label(name), anchor="end"))
        if value is None:
            drawn.append(_draw_text(_LEFT_MARGIN + 8, down + 4, why, kind="n"))
            continue
        if low is not None and high is not None:
            begin, end = across(low), across(high)
            drawn.append(
                f'<rect class="bar" opacity="0.4" x="{begin}" y="{down - 4}" '
                f'width="{round(end - begin, 1)}" height="8"/>'
            )
        drawn.append(f'<circle class="bar" cx="{across(value)}" cy="{down}" r="5"/>')
        drawn.append(_draw_text(WIDTH - _RIGHT_MARGIN + 12, down + 4, f"{value:.2f}", kind="n"))
    return _wrap_drawing(title, foot + 26, drawn)


def _scale_length(count: int, max_count: int, room: float) -> float:
    """A nonzero length is at least one unit, so that it stays visible."""
    return max(round(room * count / max_count, 1), 1.0) if count else 0.0


def _format_percent(count: int, total: int) -> str:
    share = 100 * count / total
    return "< 1 %" if 0 < share < 1 else f"{share:.0f} %"


def _clip_label(name: str) -> str:
    return name if len(name) <= _MAX_LABEL_CHARACTERS else name[: _MAX_LABEL_CHARACTERS - 1] + "…"


def _draw_text(x: float, y: float, text: str, *, kind: str = "", anchor: str = "") -> str:
    said = "".join(f' {key}="{value}"' for key, value in (("class", kind), ("text-anchor", anchor)) if value)
    return f'<text x="{x:g}" y="{y:g}"{said}>{_escape_xml(text)}</text>'


def _wrap_drawing(title: str, height: int, drawn: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-label="{_escape_xml(title, {chr(34): "&quot;"})}">{_STYLE}'
        f'<rect class="back" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>'
        f"{_draw_text(20, 28, title, kind='title')}{''.join(drawn)}</svg>\n"
    )


def _escape_xml(text: str, entities: dict[str, str] | None = None) -> str:
    """Escape for XML, which allows no control characters."""
    return escape("".join(c if c >= " " and c not in "\ufffe\uffff" else " " for c in text), entities or {})
