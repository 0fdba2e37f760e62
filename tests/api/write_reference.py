"""Write the reference in docs/api.md anew: ``python -m tests.api.write_reference``."""

from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "api.md"


def main() -> None:
    import django

    django.setup()
    from alignmenter_site.api.reference import update_document

    DOCUMENT.write_text(update_document(DOCUMENT.read_text()))


if __name__ == "__main__":
    main()
