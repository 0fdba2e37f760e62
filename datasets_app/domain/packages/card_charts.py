"""Draws the charts of a dataset's card as standalone SVG files for light and dark mode.

Every bar and dot shows its number.
"""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from datasets_app.domain.charts import Chart, DotChart

WIDTH = 720
MAX_BARS = 20
_LEFT_MARGIN, _RIGHT_MARGIN, _HEADER_HEIGHT, _ROW_HEIGHT = 190, 130, 44, 26
_ROOM = WIDTH - _LEFT_MARGIN - _RIGHT_MARGIN
_MAX_LABEL_CHARACTERS = 22
_STYLE = (
    "<style>"
    "text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2937}"
    ".title{font-size:15px;font-weight:600}.n{fill:#4b5563}"
    ".back{fill:#fff;stroke:#d1d5db}.s0{fill:#4f46e5}.s1{fill:#d97706}.line{stroke:#9ca3af}"
    "@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.n{fill:#9ca3af}"
    ".back{fill:#111827;stroke:#374151}.s0{fill:#818cf8}.s1{fill:#fbbf24}.line{stroke:#6b7280}}"
    "</style>"
)


def draw_bars(chart: Chart) -> str:
    """The bars of each row below each other, each with its count and share."""
    drawn, down = [], _HEADER_HEIGHT
    if len(chart.series) > 1:
        for place, name in enumerate(chart.series):
            left = _LEFT_MARGIN + place * 160
            drawn.append(f'<rect class="s{place}" x="{left}" y="{down}" width="12" height="12"/>')
            drawn.append(_draw_text(left + 18, down + 11, _clip_label(name), kind="n"))
        down += _ROW_HEIGHT
    for row in chart.rows:
        drawn.append(_draw_text(_LEFT_MARGIN - 10, down + 17, _clip_label(row.label), anchor="end"))
        for place, cell in enumerate(row.cells):
            length = _ROOM * float(cell.width) / 100
            drawn.append(
                f'<rect class="s{place}" x="{_LEFT_MARGIN}" y="{down + 4}" width="{length:.1f}" height="18"/>'
            )
            text = f"{cell.number:,} · {_format_percent(cell.share)}"
            drawn.append(_draw_text(_LEFT_MARGIN + length + 8, down + 17, text, kind="n"))
            down += _ROW_HEIGHT
    if chart.left_out:
        drawn.append(_draw_text(_LEFT_MARGIN, down + 17, f"{chart.left_out:,} others", kind="n"))
        down += _ROW_HEIGHT
    return _wrap_drawing(chart.title, down + 14, drawn)


def draw_dots(chart: DotChart) -> str:
    """Numbers as points with their intervals, or the reason why there is none."""
    foot = _HEADER_HEIGHT + len(chart.rows) * _ROW_HEIGHT
    drawn = []
    for at, text in ((0.0, f"{chart.low_end:g}"), (float(chart.zero or 0), "0"), (100.0, "1")):
        across = _LEFT_MARGIN + _ROOM * at / 100
        drawn.append(f'<line class="line" x1="{across}" x2="{across}" y1="{_HEADER_HEIGHT}" y2="{foot}"/>')
        drawn.append(_draw_text(across, foot + 16, text, kind="n", anchor="middle"))
    for number, row in enumerate(chart.rows):
        down, cell = _HEADER_HEIGHT + number * _ROW_HEIGHT + 13, row.cells[0]
        drawn.append(_draw_text(_LEFT_MARGIN - 10, down + 4, _clip_label(row.label), anchor="end"))
        if not cell.at:
            drawn.append(_draw_text(_LEFT_MARGIN + 8, down + 4, cell.text, kind="n"))
            continue
        if cell.begin:
            begin, width = (_ROOM * float(each) / 100 for each in (cell.begin, cell.width))
            drawn.append(
                f'<rect class="s0" opacity="0.4" x="{_LEFT_MARGIN + begin:.1f}" y="{down - 4}" '
                f'width="{width:.1f}" height="8"/>'
            )
        across = _LEFT_MARGIN + _ROOM * float(cell.at) / 100
        drawn.append(f'<circle class="s0" cx="{across:.1f}" cy="{down}" r="5"/>')
        drawn.append(_draw_text(WIDTH - _RIGHT_MARGIN + 12, down + 4, cell.text, kind="n"))
    return _wrap_drawing(chart.title, foot + 26, drawn)


def _format_percent(share: float) -> str:
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


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
