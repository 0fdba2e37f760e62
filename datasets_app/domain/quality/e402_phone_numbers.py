from datasets_app.domain.pii.detector import PHONE
from datasets_app.domain.quality.personal_data import PersonalDataCheck


class PhoneNumbers(PersonalDataCheck):
    code = "E402"
    title = "phone number"
    kind = PHONE
    noun = "phone number"
