from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotations_app", "0001_squashed_0005")]

    operations = [
        migrations.AddIndex(model_name="decision", index=models.Index(fields=["at"], name="decision_time")),
    ]
