from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0001_squashed_0037")]

    operations = [
        migrations.AddField(
            model_name="textscan",
            name="unmeasured",
            field=models.JSONField(
                null=True,
                help_text="Turns in each language in which it was not measured how many names stay.",
            ),
        ),
    ]
