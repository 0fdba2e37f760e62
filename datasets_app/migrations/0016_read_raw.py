from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0015_approvals"),
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
                    ("scrub_dataset", "Can scrub datasets, preview scrubs and correct findings"),
                    ("read_raw", "Can read raw text"),
                    ("override_gate", "Can override scrub, test split and release checks, giving a reason"),
                    ("generate_anywhere", "Can generate sessions with a model at any address"),
                    (
                        "generate_dataset",
                        "Can generate sessions, offline or with a configured model endpoint",
                    ),
                    ("split_dataset", "Can split datasets"),
                    ("release_dataset", "Can create and download releases"),
                    ("sign_review", "Can sign the legal review that sharing requires"),
                    ("hold_dataset", "Can set and lift legal holds"),
                    ("erase_session", "Can erase sessions from a dataset and its releases"),
                    ("apply_retention", "Can delete data that is due for deletion"),
                    ("limit_access", "Can restrict datasets and see all restricted datasets"),
                ],
            },
        ),
        migrations.AddField(
            model_name="release",
            name="raw",
            field=models.BooleanField(default=False, editable=False),
        ),
    ]
