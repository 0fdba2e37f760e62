from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0036_statement_of_hashed_ids")]

    operations = [
        migrations.AlterField(
            model_name="tablemapping",
            name="name",
            field=models.CharField(max_length=100, primary_key=True, serialize=False),
        ),
    ]
