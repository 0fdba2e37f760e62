"""Words that say that the number behind them is of a thing."""

from datasets_app.domain.pii.rules import account_words, phone_words

# Right before a number they leave no doubt.
OTHER_WORDS = (phone_words.OTHERS & account_words.OTHERS) - {"reference", "ref", "ssn"}
