from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0017_restrict_raw_production"),
    ]

    operations = [
        migrations.AddField(
            model_name="jobrun",
            name="source_address",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=45),
        ),
    ]
