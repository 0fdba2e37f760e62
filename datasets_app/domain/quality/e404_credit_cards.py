from datasets_app.domain.pii.detector import CREDIT_CARD
from datasets_app.domain.quality.personal_data import PersonalDataCheck


class CreditCards(PersonalDataCheck):
    code = "E404"
    title = "credit card number"
    kind = CREDIT_CARD
    noun = "credit card number"
