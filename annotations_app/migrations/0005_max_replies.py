import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotations_app", "0004_references_to_partitions")]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="max_replies",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="The first of the order; empty for all.",
                null=True,
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="number of replies",
            ),
        ),
    ]
