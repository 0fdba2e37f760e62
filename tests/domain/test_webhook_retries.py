from datasets_app.domain.webhook_retries import MAX_ATTEMPTS, pause_seconds


def test_pauses_grow_and_add_up_to_about_a_day() -> None:
    pauses = [pause_seconds(attempt, 0.0) for attempt in range(1, MAX_ATTEMPTS)]
    assert pauses == [5, 20, 80, 320, 1280, 5120, 20480, 28800, 28800]
    assert 22 * 3600 < sum(pauses) < sum(pauses) * 1.25 < 30 * 3600


def test_chance_lengthens_a_pause_by_up_to_a_quarter() -> None:
    assert pause_seconds(1, 1.0) == 6.25
