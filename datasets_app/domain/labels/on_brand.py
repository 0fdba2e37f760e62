"""The built-in criterion: does a reply sound like the persona? Only this file knows its answers."""

from datasets_app.domain.labels.criterion import Kind, Level, make_criterion
from datasets_app.domain.labels.schema import Question, Schema

ON_BRAND = make_criterion(
    "on_brand",
    "Does the reply sound like the persona?",
    Kind.YES_NO,
    (
        Level(0, "Off-brand", "off", key="0", icon="cross", sign="✕", help="Off-brand: it does not"),
        Level(
            1, "On-brand", "on", key="1", icon="check", sign="✓", help="On-brand: it sounds like the persona"
        ),
    ),
    parameters=("persona",),
)
# What campaigns without a schema ask.
ON_BRAND_SCHEMA = Schema(ON_BRAND.key, "", (Question(ON_BRAND),))
NO, YES = ON_BRAND.codes
NO_NAME, YES_NAME = (level.name for level in ON_BRAND.levels)
# What other tools call the answers, where a question is about the brand or asks for nothing else.
NAMES = {"on brand": YES, "onbrand": YES, "off brand": NO, "offbrand": NO, "not on brand": NO}
