from datasets_app.domain.pii.detector import EMAIL
from datasets_app.domain.quality.personal_data import PersonalDataCheck


class EmailAddresses(PersonalDataCheck):
    code = "E401"
    title = "e-mail address"
    kind = EMAIL
    noun = "e-mail address"
