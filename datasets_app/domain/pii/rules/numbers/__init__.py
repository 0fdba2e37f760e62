"""Numbers of telephones and cards, dates, and what stands right behind a label that says what it is."""
