from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0043_session_persona_index")]

    operations = [
        migrations.AddField(
            model_name="dataset",
            name="judge_endpoints",
            field=models.JSONField(blank=True, db_default=[], default=list, editable=False),
        ),
    ]
