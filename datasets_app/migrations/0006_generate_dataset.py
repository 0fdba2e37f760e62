from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0005_generate_anywhere"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="dataset",
            options={
                "ordering": ["name"],
                "permissions": [
                    ("import_dataset", "Can import conversation files"),
                    ("export_dataset", "Can export datasets and download the files"),
                    ("check_dataset", "Can run checks"),
                    ("scrub_dataset", "Can scrub, preview a scrub and mark its findings"),
                    (
                        "override_gate",
                        "Can have unscrubbed production data exported and annotated, for a reason",
                    ),
                    ("generate_anywhere", "Can have sessions written by a model at any address"),
                    (
                        "generate_dataset",
                        "Can generate sessions, offline or by a model at a configured address",
                    ),
                ],
            },
        ),
    ]
