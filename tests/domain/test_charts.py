"""What a chart draws: where a number and its interval are, and what a missing one says."""

from datasets_app.domain.charts import COLUMN_HEIGHT, Dots, Estimate, make_columns, make_dots


def test_a_number_is_drawn_where_it_belongs() -> None:
    rows = [
        Dots("a", [Estimate(0.0, -0.5, 0.5)], 3, marks=[1.0]),
        Dots("b", [Estimate(None, note="why")], 0),
        Dots("c", [Estimate(1.5)], 1),
    ]
    chart = make_dots("t", "h", rows, series=["Value"], unit="n", low_end=-1.0)
    first, missing, beyond = (row.cells[0] for row in chart.rows)
    assert (first.at, first.begin, first.width, chart.zero) == ("50.00", "25.00", "50.00", "50.00")
    assert first.interval == "\N{MINUS SIGN}0.500 to 0.500"
    assert chart.rows[0].marks == ["100.00"]
    assert (missing.at, missing.text) == ("", "why")
    assert (beyond.at, beyond.begin, beyond.text) == ("100.00", "", "1.500")
    assert make_dots("t", "h", [], series=["Value"], unit="n").zero == ""


def test_a_column_without_a_number_has_a_line() -> None:
    none, all_of_it = make_columns([("a", 0), ("b", 1234)])
    assert (none.height, all_of_it.height) == ("1.0", f"{COLUMN_HEIGHT:.1f}")
    assert [column.y for column in make_columns([("a", 0)])] == ["31.0"]
