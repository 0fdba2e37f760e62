import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0039_written_text")]

    operations = [
        migrations.AddField(
            model_name="dataset",
            name="sharing_audit_readings",
            field=models.PositiveIntegerField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="dataset",
            name="sharing_canary_upper",
            field=models.FloatField(
                blank=True,
                editable=False,
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(0.0),
                    django.core.validators.MaxValueValidator(1.0),
                ],
            ),
        ),
    ]
