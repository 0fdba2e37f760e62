from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0031_preferences"),
    ]

    operations = [
        migrations.AddField(
            model_name="jobrun",
            name="api_token",
            field=models.BigIntegerField(blank=True, editable=False, null=True),
        ),
    ]
